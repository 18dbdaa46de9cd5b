package badger

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// sync puts on the disk what the writer has committed. Large values are in the
// value log, which may just have begun a new file without syncing the old one.
func (s *Store) sync(large bool) error {
	if err := s.db.Sync(); err != nil || !large {
		return err
	}
	files, err := filepath.Glob(filepath.Join(s.opts.Dir, "*.vlog"))
	for _, path := range files {
		err = errors.Join(err, syncFile(path))
	}
	return err
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if os.IsNotExist(err) {
		return nil // collected meanwhile
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// How often the value log is looked at, and what share of a file must be
// garbage for it to be rewritten.
const (
	collectEvery = 10 * time.Minute
	collectShare = 0.5
)

// collect gives the disk space of overwritten large values back. The writer
// calls it between groups: what it moves could otherwise make Badger begin a new
// memtable between a commit and its sync.
func (s *Store) collect() {
	if room(s.opts.Dir, keepFree+2*s.db.Opts().ValueLogFileSize+s.pending, s.free) != nil {
		return // what is worth keeping is written anew before the old file goes
	}
	for {
		err := s.db.RunValueLogGC(collectShare)
		switch {
		case errors.Is(err, badger.ErrNoRewrite):
			return
		case err != nil:
			s.opts.Log.Warn("value log not collected", "error", err)
			return
		}
		select {
		case <-s.done:
			return
		default:
		}
	}
}
