package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// Badger writes through memory maps of files with holes. A page for which the disk has
// no block left ends the process (SIGBUS) instead of failing the write, so the writer
// checks the free space before each write, refuses the write if there is not enough, and
// allocates the blocks of the write-ahead log before Badger writes there: others may fill the
// disk between the check and the write. That costs a third more in a write of many callers (ext4 notes each block that
// was allocated before), so it is done only where the disk has little room. A new log, and tables, rest on keepFree alone.
const (
	keepFree  = 16 << 20 // for Badger's own work, and for others who write meanwhile
	openNeeds = 2 << 20  // headers of the files that a start makes
	logAhead  = 4 << 20  // of the log that is allocated besides what is written next
	plenty    = 4 << 30  // free space that nobody takes within one write
)

// freeOn is how many bytes a user may still write on the file system of dir.
func freeOn(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

func diskFullError(dir string, cause error, need, have int64) error {
	return fault.Wrap(fault.Unavailable, cause,
		"the disk is full: the store in %s needs %d MiB free and has %d; make room, no restart is needed", dir, (need+1<<20-1)>>20, have>>20)
}

// checkDiskRoom fails with ErrFull when the disk cannot take need bytes. A file system that
// does not say is trusted.
func checkDiskRoom(dir string, need int64, free func(string) (int64, error)) error {
	if have, err := free(dir); err == nil && have < need {
		return diskFullError(dir, datastore.ErrFull, need, have)
	}
	return nil
}

// takesWrites says what a write that failed means for those that follow.
func takesWrites(dir string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(fault.Unavailable, errors.Join(datastore.ErrDisk, err),
		"the disk of %s takes no writes, so nothing was changed: %v; repair the file system (dmesg says what happened); if it must be unmounted for that, stop the controller first", dir, err)
}

// failDisk notes that the disk did not store what it was given: what it has now is not known,
// and nothing more is written by this process.
func (s *Store) failDisk(cause error) error {
	s.failed.Store(fault.Wrap(fault.Unavailable, errors.Join(datastore.ErrDisk, cause),
		"the disk of %s failed, so nothing is written any more: %v; repair the disk and restart the controller; reads go on", s.opts.Dir, cause))
	s.opts.Log.Error(
		"the disk did not store a transaction; nothing is written any more",
		"dir",
		s.opts.Dir,
		"error",
		cause,
	)
	return fault.Wrap(fault.Timeout, errors.Join(datastore.ErrDisk, cause),
		"it is not known whether the change was made, because the disk of %s failed: %v; repair it and restart the controller, then read the data before you repeat the change", s.opts.Dir, cause)
}

// Failed implements datastore.Failing.
func (s *Store) Failed() error {
	if f := s.failed.Load(); f != nil {
		return f
	}
	return nil
}

// diskError says what an operating system's error means for the store in dir.
func diskError(dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		have, _ := freeOn(dir)
		return diskFullError(dir, errors.Join(datastore.ErrFull, err), openNeeds, have)
	}
	return fmt.Errorf("datastore: %s: %w", dir, err)
}

// logFiles are the write-ahead logs of a store, the one that is written last.
func logFiles(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "*.mem")) // fails for a wrong pattern only
	slices.Sort(files)
	return files
}

// unflushedBytes is what a start finds in write-ahead logs and writes again as tables.
func unflushedBytes(dir string) (bytes int64) {
	for _, file := range logFiles(dir) {
		f, err := os.Open(file)
		if err != nil {
			continue
		}
		if written, err := writtenBytes(f); err == nil {
			bytes += written
		}
		f.Close()
	}
	return bytes
}

// writtenBytes is how much of a log was written: what follows is a hole, allocated or not.
func writtenBytes(f *os.File) (int64, error) {
	return unix.Seek(int(f.Fd()), 0, unix.SEEK_HOLE)
}

// allocateLog allocates the blocks of the log for a write of so many bytes. A file system that cannot do that is trusted.
func (s *Store) allocateLog(bytes int64) error {
	have, err := freeOn(s.opts.Dir)
	if err == nil && have > plenty {
		s.log = logSpace{}
		return nil
	}
	if s.log.left >= bytes && !exists(s.log.next) {
		s.log.left -= bytes
		return nil
	}
	files := logFiles(s.opts.Dir)
	if len(files) == 0 {
		return nil
	}
	newest := files[len(files)-1]
	f, err := os.OpenFile(newest, os.O_RDWR, 0)
	if err != nil {
		return diskError(s.opts.Dir, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return diskError(s.opts.Dir, err)
	}
	written, err := writtenBytes(f)
	end := min(written+bytes+logAhead, info.Size())
	if err != nil || end <= written {
		return nil //nolint:nilerr // it does not say where the holes are, or the next write begins another log
	}
	err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, written, end-written)
	switch {
	case errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS):
		return nil
	case err != nil:
		return diskError(s.opts.Dir, err)
	}
	s.log = logSpace{
		next: nextLog(newest),
		left: end - written - bytes,
	}
	return nil
}

// logSpace is what is allocated of the log that is written now.
type logSpace struct {
	next string // the log after it, which exists when this one is full
	left int64  // bytes that may still be written before more is allocated
}

// nextLog is the log after one: their names are numbers, 00001.mem.
func nextLog(file string) string {
	dir, name := filepath.Split(file)
	number, err := strconv.Atoi(strings.TrimSuffix(name, ".mem"))
	if err != nil {
		return ""
	}
	return filepath.Join(dir, fmt.Sprintf("%05d.mem", number+1))
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// mergeNeeds is what merging tables may write before it removes the old ones: all of level
// 0, and what overlaps them in the next level.
func mergeNeeds(all []badger.TableInfo) (bytes int64) {
	deeper := int64(0)
	for _, t := range all {
		if t.Level == 0 {
			bytes += int64(t.OnDiskSize)
		} else {
			deeper += int64(t.OnDiskSize)
		}
	}
	return bytes + min(deeper, 32<<20)
}

// checkFits refuses to write what the disk has no room for, or no place.
func (s *Store) checkFits(bytes int64) error {
	err := s.inPlace()
	if err == nil {
		err = takesWrites(s.opts.Dir, s.tip.rewriteTip())
	}
	if err == nil {
		err = checkDiskRoom(s.opts.Dir, keepFree+2*bytes+s.pending+s.merging.Load(), s.free)
	}
	switch {
	case err != nil && !s.refused:
		s.opts.Log.Error("nothing can be written", "error", err)
	case err == nil && s.refused:
		s.opts.Log.Info("the store can be written again")
	}
	s.refused = err != nil
	return err
}

// countWritten counts what the memtable holds and a flush will write once more.
func (s *Store) countWritten(bytes int64) {
	if s.pending += bytes; s.pending > s.db.Opts().MemTableSize {
		s.pending = bytes // it was flushed
	}
}
