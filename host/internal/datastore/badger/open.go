// Package badger is the datastore engine for one controller: Badger v4 in a directory of
// the home, loaded into memory at start. Only Badger's public API is used.
//
// A transaction that is not Volatile is acknowledged when it is on the disk. Volatile ones
// follow within a second or with the next that is not. Each write carries a digest of all
// entries; with the newest acknowledged revision (tip.go) and the checksums of Badger's
// files (files.go) a start notices whatever is missing or altered, refuses the store
// (datastore.ErrDamaged) and leaves it as it is.
package badger

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
	"ctl.internal/sdk/fault"
)

// Store is a datastore.Store on disk.
type Store struct {
	opts Options
	db   *badger.DB
	lock *os.File
	tip  *tip
	*projection.Projection

	place    os.FileInfo    // of the lock, as it was opened
	owned    sync.WaitGroup // who flushes and who notes tables
	patience time.Duration  // how long an end may take; tests make it short
	free     func(dir string) (int64, error)
	merging  atomic.Int64 // bytes that merging tables may need
	failed   atomic.Pointer[fault.Error]

	queue   chan *request // without a buffer: what callers wait with
	writing chan struct{} // capacity 1: full while somebody writes; an ended store keeps it full

	// These belong to who writes.
	meta      meta // of the newest state
	logs      []logWrite
	logSize   int
	long      map[string]int    // joined keys whose value takes further entries in Badger, and how many
	unwritten []datastore.Batch // volatile transactions that Badger does not have yet
	waiting   int64             // bytes of those
	pending   int64             // bytes that a flush of the memtable will write
	refused   bool              // the last group found no room
	log       logSpace
}

var _ datastore.Store = (*Store)(nil)

// Open opens or makes the store in o.Dir. It fails with ErrLocked when another process has
// it, ErrFull when the disk has no room for a start (try again when there is), ErrDamaged
// when what is there is not what was acknowledged; then no file of it has been changed.
func Open(o Options) (*Store, error) {
	if o.History <= 0 {
		o.History = projection.DefaultHistory
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, diskError(o.Dir, err)
	}
	if err := checkAccess(o.Dir, mayUse); err != nil {
		return nil, err
	}
	if err := checkDiskRoom(o.Dir, openNeeds+3*unflushedBytes(o.Dir), freeOn); err != nil {
		return nil, err
	}
	lock, err := lockDir(o.Dir)
	if err != nil {
		return nil, err
	}
	s, err := openVerified(o, lock)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return s, nil
}

func openVerified(o Options, lock *os.File) (_ *Store, err error) {
	acknowledged, old, err := verifyStore(o.Dir, o.Dir)
	if err == nil {
		err = removeLeftovers(o.Dir)
	}
	if err != nil {
		return nil, err
	}
	t, err := openTip(o.Dir, acknowledged)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	known, err := beginFileList(o.Dir, old)
	if err != nil {
		return nil, err
	}
	place, err := lock.Stat()
	if err != nil {
		return nil, diskError(o.Dir, err)
	}
	db, l, err := openEngine(engineOptions(o.Dir, o.Log), o.Dir, o.History, acknowledged)
	if err != nil {
		return nil, err
	}
	if l.meta.Rev == 0 && o.First > 0 {
		l.meta.Rev, l.state = o.First, projection.NewLoader(o.History).State(o.First)
	}
	s := &Store{
		opts:       o,
		db:         db,
		lock:       lock,
		place:      place,
		tip:        t,
		Projection: projection.New(l.state),
		meta:       l.meta,
		logs:       l.logs,
		long:       l.parts,
		queue:      make(chan *request),
		writing:    make(chan struct{}, 1),
		patience:   closeWait,
		free:       freeOn,
	}
	for _, w := range l.logs {
		s.logSize += w.size
	}
	s.merging.Store(mergeNeeds(db.Tables()))
	s.owned.Go(s.flushVolatile)
	s.owned.Go(func() { s.noteTables(known) })
	return s, nil
}

// verifyStore looks for damage, changes no file of the store and returns what the store knows of itself. One
// that did not end in order is opened in a copy, below scratch, because Badger repairs by leaving out.
func verifyStore(dir, scratch string) (acknowledged datastore.Revision, known *files, err error) {
	begun := pathExists(filepath.Join(dir, badger.ManifestFilename))
	if acknowledged, err = readTip(dir, begun); err == nil {
		known, err = readFiles(dir)
	}
	switch {
	case err != nil:
		return 0, nil, err
	case known == nil && begun:
		if isOlderStore(dir, scratch) {
			return 0, nil, fmt.Errorf("%w: %s. Nothing was changed: run the release that wrote it, save what is to be kept with it (GET /rests/data; users "+
				"are made again), start this release in an empty home and put it back; docs/operating.md, Upgrade", datastore.ErrOlder, dir)
		}
		return 0, nil, damagedError(filepath.Join(dir, filesName), "the file is missing")
	case known != nil:
		err = known.verifyFiles(dir)
	}
	if err != nil || !begun || known.Closed {
		return acknowledged, known, err
	}
	return acknowledged, known, inCopy(dir, scratch, func(copied string) error {
		o := engineOptions(copied, slog.New(slog.DiscardHandler)).
			WithNumCompactors(0). // would write into tables, which the copy shares with the store
			WithNumLevelZeroTables(1 << 20).WithNumLevelZeroTablesStall(1<<20 + 1)
		db, _, err := openEngine(o, dir, 1, acknowledged)
		if err != nil {
			return err
		}
		return db.Close()
	})
}

// isOlderStore reports whether an early release wrote the store: it kept the newest revision in a
// record of its own, and no list of files.
func isOlderStore(dir, scratch string) bool {
	found := false
	_ = inCopy(dir, scratch, func(copied string) error {
		db, err := badger.Open(engineOptions(copied, slog.New(slog.DiscardHandler)))
		if err != nil {
			return err
		}
		err = db.View(func(t *badger.Txn) error {
			_, err := t.Get([]byte("mrevision"))
			return err
		})
		found = err == nil
		return errors.Join(err, db.Close())
	})
	return found
}

// beginFileList notes that the store is in use, so that what is listed for an ended one no longer
// counts, and lists the tables that are there.
func beginFileList(dir string, old *files) (*files, error) {
	known := &files{Files: map[string]checksum{}}
	for _, name := range listTables(dir) {
		// One that is not in the old list may be the rest of an interrupted start.
		if sum, ok := old.checksumOf(name); ok {
			known.Files[name] = sum
		}
	}
	return known, known.writeList(dir)
}

func pathExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// openEngine opens Badger and reads everything. What it reports, or panics with, is damage
// of the store in dir unless the operating system is to blame.
func openEngine(
	o badger.Options,
	dir string,
	history int,
	acknowledged datastore.Revision,
) (db *badger.DB, l loaded, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = damagedError(dir, "%v", p)
		}
	}()
	db, err = badger.Open(o)
	var osErr syscall.Errno
	switch {
	case errors.Is(err, fs.ErrPermission), errors.As(err, &osErr) && osErr != syscall.EINVAL: // which is an empty table
		return nil, l, diskError(dir, err)
	case err != nil:
		return nil, l, damagedError(dir, "%v", err)
	}
	l, err = loadStore(db, history)
	switch {
	case err != nil:
		err = damagedError(dir, "%v", err)
	case l.meta.Rev < acknowledged:
		err = damagedError(
			suspectFile(dir),
			"the newest transaction is %d, but %d was acknowledged",
			l.meta.Rev,
			acknowledged,
		)
	}
	if err != nil {
		return nil, l, errors.Join(err, db.Close())
	}
	return db, l, nil
}

// suspectFile is what most likely lost the newest transactions.
func suspectFile(dir string) string {
	if logs, _ := filepath.Glob(filepath.Join(dir, "*.mem")); len(logs) > 0 {
		return logs[len(logs)-1]
	}
	return dir
}

func damagedError(path, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s. Nothing was changed; restore the directory from a backup, "+
		"or move it away to begin with an empty store", datastore.ErrDamaged, path, fmt.Sprintf(format, args...))
}

// Check looks at the store in a directory as Open does, and changes nothing in it. A store
// that does not exist yet is in order; ErrLocked says that a process is using it and
// nothing was looked at.
func Check(dir string) error {
	if err := checkAccess(dir, mayUse); err != nil {
		return err
	}
	lock, err := os.Open(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		if !pathExists(dir) {
			return nil
		}
	} else if err != nil {
		return diskError(dir, err)
	} else {
		defer lock.Close()
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil {
			return fmt.Errorf("%w: %s", datastore.ErrLocked, dir)
		}
	}
	scratch, err := os.MkdirTemp("", "ctl-check")
	if err != nil {
		return diskError(os.TempDir(), err)
	}
	defer os.RemoveAll(scratch)
	_, _, err = verifyStore(dir, scratch)
	return err
}
