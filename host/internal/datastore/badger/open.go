package badger

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/dgraph-io/badger/v4"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/engine"
)

// Store is a datastore.Store on disk.
type Store struct {
	opts Options
	db   *badger.DB
	lock *os.File
	tip  *tip
	sig  engine.Signal
	rev  atomic.Uint64

	requests chan *request
	done     chan struct{}  // closed when the store begins to close
	owned    sync.WaitGroup // the writer

	mu     sync.Mutex
	ended  bool
	views  sync.WaitGroup // reads in progress; added under mu
	failed error          // a failed sync; only the writer touches it

	flushes *flushes
	limits  closeLimits

	free    func(dir string) (int64, error) // room on the disk; these three are the writer's
	pending int64                           // bytes that a flush of the memtable will write
	full    bool                            // the last group was refused
	moved   bool                            // the directory was found gone
}

var _ datastore.Store = (*Store)(nil)

// Open opens or makes the store in o.Dir. It fails with ErrLocked when another
// process has it, ErrDamaged when what is there is less than what was
// acknowledged; then nothing on disk has been changed.
func Open(o Options) (*Store, error) {
	if o.History <= 0 {
		o.History = defaultHistory
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("datastore: %w", err)
	}
	if err := accessible(o.Dir, mayUse); err != nil {
		return nil, err
	}
	lock, err := lockDir(o.Dir)
	if err != nil {
		return nil, err
	}
	s, err := open(o, lock)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return s, nil
}

func open(o Options, lock *os.File) (*Store, error) {
	t, err := openTip(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := preflight(o, t.value); err != nil {
		t.close()
		return nil, err
	}
	if err := room(o.Dir, openNeeds+unflushed(o.Dir), freeOn); err != nil {
		t.close()
		return nil, err
	}
	failures := &flushes{gaveUp: make(chan error, 1)}
	db, err := openEngine(o, failures)
	if err != nil {
		t.close()
		return nil, err
	}
	s := &Store{opts: o, db: db, lock: lock, tip: t,
		requests: make(chan *request), done: make(chan struct{}), free: freeOn,
		flushes: failures, limits: closeLimits{wait: closeWait, tries: closeTries}}
	rev, err := s.newest()
	if err == nil && rev < t.value {
		err = damaged(o.Dir, "its newest transaction is %d, but %d was acknowledged", rev, t.value)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close(), t.close())
	}
	s.rev.Store(uint64(rev))
	s.owned.Go(s.write)
	return s, nil
}

// openEngine opens Badger; what it reports, or panics with, is damage unless
// the operating system is to blame.
func openEngine(o Options, f *flushes) (db *badger.DB, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = damaged(o.Dir, "%v", p)
		}
	}()
	db, err = badger.Open(engineOptions(o).WithLogger(engineLog{o.Log, f}))
	var osErr syscall.Errno
	switch {
	case err == nil:
		return db, nil
	case errors.Is(err, fs.ErrPermission), errors.As(err, &osErr):
		return nil, fmt.Errorf("datastore: open %s: %w", o.Dir, err)
	}
	return nil, damaged(o.Dir, "%v", err)
}

func damaged(path, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s. Nothing was changed; restore the directory from a backup, "+
		"or move it away to begin with an empty store", datastore.ErrDamaged, path, fmt.Sprintf(format, args...))
}

// enter counts a read in; the caller counts it out with s.views.Done.
func (s *Store) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return datastore.ErrClosed
	}
	s.views.Add(1)
	return nil
}
