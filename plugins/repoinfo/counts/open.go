package counts

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"ctl.internal/plugins/repoinfo/commit"
)

// Open opens or makes the file counts.db below dir. A file that cannot be used is
// logged, and made again when it is damaged: everything in it can be counted again.
func Open(dir string, log *slog.Logger) *Store {
	s := &Store{log: log, fresh: map[string]map[string]commit.Lines{}, pending: map[string]chan struct{}{}}
	path := filepath.Join(dir, "counts.db")
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		s.db, err = open(path)
	}
	if errors.Is(err, errDamaged) {
		log.Warn("the line counts are damaged and will be counted again", "file", path, "error", err)
		if err = os.Remove(path); err == nil || errors.Is(err, os.ErrNotExist) {
			s.db, err = open(path)
		}
	}
	if err != nil {
		log.Warn("line counts are not kept over a restart", "file", path, "error", err)
	}
	return s
}

var errDamaged = errors.New("the file cannot be read")

// open opens the file, which reads all of its pages. bbolt panics at some damages, in
// goroutines of its own too: the mark shows the next start that this one ended here.
func open(path string) (db *bbolt.DB, err error) {
	mark := path + ".opening"
	if _, err := os.Lstat(mark); err == nil {
		return nil, errors.Join(errDamaged, os.Remove(mark))
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return nil, err
	}
	err = safely(func() (err error) { // a panic leaves the file open, but the caller removes it
		db, err = bbolt.Open(path, 0o600,
			&bbolt.Options{Timeout: 10 * time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
		return err
	})
	if err != nil && !errors.Is(err, os.ErrPermission) && !errors.Is(err, bbolterrors.ErrTimeout) {
		err = errors.Join(errDamaged, err)
	}
	return db, errors.Join(err, os.Remove(mark))
}

// safely turns the panics that bbolt has for damaged pages into errors, and the faults
// of a file that is shorter than its pages say.
func safely(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	return do()
}
