package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// Badger's Close writes the memtable as a table and tries again for ever when it
// cannot. Everything in it is in the synced log, too, so giving up loses nothing:
// the next start reads the log.
const (
	closeWait  = 20 * time.Second // a disk that answers nothing
	closeTries = 3                // failed flushes, one a second
)

// closeLimits bound an orderly end; tests make them short.
type closeLimits struct {
	wait  time.Duration
	tries int32
}

// Close waits for reads in progress, ends watches and writes what is buffered. When
// that cannot be written it says so and leaves the engine as it is, with the lock, until
// the process ends: all that was acknowledged is in the files that were there.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return nil
	}
	s.ended = true
	close(s.done)
	s.mu.Unlock()
	s.owned.Wait()
	s.views.Wait()
	if err := s.inPlace(); err != nil {
		return err // a flush would write into what somebody else has put there
	}
	if err := room(s.opts.Dir, openNeeds+s.pending, s.free); err != nil {
		return errors.Join(fmt.Errorf("datastore: its log is kept for the next start: %w", err), s.sync(true))
	}
	s.flushes.endure(s.limits.tries)
	closed := make(chan error, 1)
	go func() { closed <- errors.Join(s.db.Close(), s.tip.close(), s.lock.Close()) }()
	patience := time.NewTimer(s.limits.wait)
	defer patience.Stop()
	select {
	case err := <-closed:
		return err
	case err := <-s.flushes.gaveUp:
		return fmt.Errorf("datastore: nothing can be written into %s any more: %w; what was acknowledged is in its log, which the next start reads", s.opts.Dir, err)
	case <-patience.C:
		return fmt.Errorf("datastore: the disk of %s did not answer for %s; what was acknowledged is in its log, which the next start reads", s.opts.Dir, s.limits.wait)
	}
}

// inPlace fails when the directory is no longer the one that was opened: what is
// written now would be lost with the old files, or spoil the new ones.
func (s *Store) inPlace() error {
	there, err := os.Stat(filepath.Join(s.opts.Dir, lockName))
	ours, err2 := s.lock.Stat()
	if err2 == nil && (errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(there, ours)) {
		return fault.Wrap(fault.Unavailable, datastore.ErrMoved,
			"the store in %s was removed or replaced while the controller runs: nothing is written any more; stop the controller, put the directory (or a backup of it) back, and start it again", s.opts.Dir)
	}
	return nil
}

// flushes counts failed flushes, which Badger only logs.
type flushes struct {
	left   atomic.Int32 // at or below 0: nobody waits
	gaveUp chan error   // gets the last one of those that are endured
}

// endure counts from now on; before, the engine has all the time it needs.
func (f *flushes) endure(tries int32) { f.left.Store(tries) }

const flushMessage = "badger: error flushing memtable"

// note reads a message of Badger's.
func (f *flushes) note(message string) {
	if !strings.HasPrefix(message, flushMessage) {
		return
	}
	if f.left.Add(-1) == 0 {
		f.gaveUp <- errors.New(strings.TrimSuffix(message, ", retrying"))
	}
}
