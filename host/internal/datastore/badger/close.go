package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// closeWait bounds an orderly end. Badger's Close writes the memtable as a table and tries
// again for ever when it cannot. Everything in it is in the synced log, too, so giving up
// loses nothing: the next start reads the log.
const closeWait = 10 * time.Second

// kept says why an end that fails loses nothing.
const kept = "what was acknowledged is in its log, which the next start reads"

// Close ends watches and writes what is buffered. When that cannot be written it says so
// and leaves the engine as it is, with the lock, until the process ends: all that was
// acknowledged is in the files that were there.
func (s *Store) Close() error {
	if !s.Projection.Close() {
		return nil
	}
	closed := make(chan error, 1)
	go func() { closed <- s.closeEngine() }()
	patience := time.NewTimer(s.patience)
	defer patience.Stop()
	select {
	case err := <-closed:
		return err
	case <-patience.C:
		return fmt.Errorf(
			"datastore: the disk of %s did not store the remaining writes within %s; %s",
			s.opts.Dir,
			s.patience,
			kept,
		)
	}
}

// closeEngine closes Badger, if it can write its last table, and lists what it leaves.
func (s *Store) closeEngine() error {
	s.writing <- struct{}{} // who writes has finished, and no other begins
	s.owned.Wait()
	s.writeUnwritten()
	if err := s.inPlace(); err != nil {
		return err // a flush would write into what somebody else has put there
	}
	if err := checkDiskRoom(s.opts.Dir, openNeeds+s.pending, s.free); err != nil {
		return fmt.Errorf("datastore: its log is kept for the next start: %w", err)
	}
	if err := checkWritable(s.opts.Dir); err != nil {
		return fmt.Errorf("datastore: cannot write to %s any more: %w; %s", s.opts.Dir, err, kept)
	}
	err := s.db.Close()
	if err == nil {
		var f *files
		if f, err = listStoreFiles(s.opts.Dir); err == nil {
			err = f.writeList(s.opts.Dir)
		}
	}
	return errors.Join(err, s.tip.close(), s.lock.Close())
}

// checkWritable tries to write a file.
func checkWritable(dir string) error {
	f, err := os.CreateTemp(dir, "ctl.try")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4096))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
}

// inPlace fails when the directory is no longer the one that was opened: what is
// written now would be lost with the old files, or spoil the new ones.
func (s *Store) inPlace() error {
	there, err := os.Stat(filepath.Join(s.opts.Dir, lockName))
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(there, s.place) {
		return fault.Wrap(fault.Unavailable, datastore.ErrMoved,
			"the store in %s was removed or replaced while the controller runs: nothing is written any more; stop the controller, put the directory (or a backup of it) back, and start it again", s.opts.Dir)
	}
	return nil
}
