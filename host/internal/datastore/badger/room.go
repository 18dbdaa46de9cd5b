package badger

import (
	"os"
	"path/filepath"
	"syscall"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// Badger writes through memory maps of files with holes. A page for which the disk has
// no block left ends the process (SIGBUS) instead of failing the write, so the writer
// looks for room before each group, and refuses while there is none.
const (
	keepFree  = 16 << 20 // for Badger's own work, and for others who write meanwhile
	openNeeds = 1 << 20  // headers of the files that a start makes
)

// freeOn is how many bytes a user may still write on the file system of dir.
func freeOn(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// room fails with ErrFull when the disk cannot take need bytes. A file system that
// does not tell is trusted.
func room(dir string, need int64, free func(string) (int64, error)) error {
	if have, err := free(dir); err == nil && have < need {
		return fault.Wrap(fault.Unavailable, datastore.ErrFull, "the disk is full: the store in %s needs %d MiB free and has %d; make room, no restart is needed", dir, (need+1<<20-1)>>20, have>>20)
	}
	return nil
}

// unflushed is what a start finds in write-ahead logs and writes again as tables.
func unflushed(dir string) (bytes int64) {
	logs, _ := filepath.Glob(filepath.Join(dir, "*.mem"))
	for _, file := range logs {
		if info, err := os.Stat(file); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				bytes += st.Blocks * 512 // the rest is holes
			}
		}
	}
	return bytes
}

// fits refuses a group that the disk has no room for, or no place. Only the writer calls it.
func (s *Store) fits(g *group) error {
	gone := s.inPlace()
	if gone != nil && !s.moved {
		s.opts.Log.Error("nothing can be written", "error", gone)
	}
	if s.moved = gone != nil; s.moved {
		return gone
	}
	err := room(s.opts.Dir, keepFree+2*g.bytes+s.pending, s.free)
	switch {
	case err != nil && !s.full:
		s.opts.Log.Error("nothing can be written", "error", err)
	case err == nil && s.full:
		s.opts.Log.Info("there is room on the disk again")
	}
	s.full = err != nil
	return err
}

// wrote counts what the memtable holds and a flush will write once more.
func (s *Store) wrote(g *group) {
	if s.pending += g.bytes; s.pending > s.db.Opts().MemTableSize {
		s.pending = g.bytes // it was flushed
	}
}
