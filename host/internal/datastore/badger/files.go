package badger

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/host/internal/home"
)

// files is what is known of the files in the directory, so that a start notices damage
// before Badger sees it, which repairs by leaving out. After an orderly end it names every
// file; while the store is open only Badger's tables, which do not change.
type files struct {
	Closed bool                // the store ended in order, and every file is listed
	Files  map[string]checksum // by name
}

type checksum struct {
	Size int64
	CRC  uint32 // Castagnoli
}

const filesName = "ctl.files"

// readFiles returns nil when there is no such file, as after a crash at the first start.
func readFiles(dir string) (*files, error) {
	path := filepath.Join(dir, filesName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diskError(dir, err)
	}
	sum, body, ok := strings.Cut(string(b), "\n")
	if !ok || sum != fmt.Sprintf("%08x", crc32.Checksum([]byte(body), castagnoli)) {
		return nil, damagedError(path, "its content differs from what was written")
	}
	f := &files{}
	if err := json.Unmarshal([]byte(body), f); err != nil {
		return nil, damagedError(path, "%v", err)
	}
	return f, nil
}

func (f *files) checksumOf(name string) (c checksum, ok bool) {
	if f != nil {
		c, ok = f.Files[name]
	}
	return c, ok
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writeList replaces the file as a whole.
func (f *files) writeList(dir string) error {
	body, err := json.Marshal(f)
	if err != nil {
		return err
	}
	text := fmt.Appendf(nil, "%08x\n%s", crc32.Checksum(body, castagnoli), body)
	if err := home.WriteFile(filepath.Join(dir, filesName), text, 0o600); err != nil {
		return diskError(dir, err)
	}
	return nil
}

// verifyFiles compares the directory with what is known of it.
func (f *files) verifyFiles(dir string) error {
	for name, want := range f.Files {
		path := filepath.Join(dir, name)
		have, err := sumFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && f.Closed:
			return damagedError(path, "the file is missing")
		case errors.Is(err, fs.ErrNotExist): // a table that was merged into others
		case err == nil && have.Size == 0 && !f.Closed: // about to be removed, or the copy says so
		case err != nil:
			return diskError(dir, err)
		case have.Size != want.Size:
			return damagedError(
				path,
				"it has %d bytes and had %d when it was written",
				have.Size,
				want.Size,
			)
		case have != want:
			return damagedError(path, "its content differs from what was written")
		}
	}
	return nil
}

func sumFile(path string) (c checksum, err error) {
	f, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer f.Close()
	h := crc32.New(castagnoli)
	c.Size, err = io.Copy(h, bufio.NewReaderSize(f, 1<<20))
	c.CRC = h.Sum32()
	return c, err
}

// isLeftoverFile reports whether a file is what a crash left of one that Badger was making or
// removing: an empty log, with which Badger would not open.
func isLeftoverFile(f fs.DirEntry) bool {
	ext := filepath.Ext(f.Name())
	if ext != ".mem" && ext != ".vlog" || !f.Type().IsRegular() {
		return false
	}
	info, err := f.Info()
	return err == nil && info.Size() == 0
}

// removeLeftovers removes them from a store that has everything without them.
func removeLeftovers(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err == nil && isLeftoverFile(e) {
			err = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	if err != nil {
		return diskError(dir, err)
	}
	return nil
}

// isOwnFile are the files in the directory that Badger knows nothing of.
func isOwnFile(name string) bool {
	return name == lockName ||
		name == tipName ||
		name == filesName ||
		strings.HasPrefix(name, home.NewFile)
}

// listStoreFiles lists every file of a store that is closed.
func listStoreFiles(dir string) (*files, error) {
	f := &files{Closed: true, Files: map[string]checksum{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || isOwnFile(e.Name()) {
			continue
		}
		if f.Files[e.Name()], err = sumFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// listTables lists Badger's tables in a directory, by number.
func listTables(dir string) map[uint64]string {
	out := map[uint64]string{}
	found, _ := filepath.Glob(filepath.Join(dir, "*.sst"))
	for _, path := range found {
		name := filepath.Base(path)
		if id, err := strconv.ParseUint(strings.TrimSuffix(name, ".sst"), 10, 64); err == nil {
			out[id] = name
		}
	}
	return out
}

// noteEvery is how often tables that Badger has written are looked for. Damage to one that a
// crash left out of the list ends the next start by a panic in Badger, which names the file.
const noteEvery = 100 * time.Millisecond

// noteTables keeps the list of tables while the store is open.
func (s *Store) noteTables(known *files) {
	tick := time.NewTicker(noteEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.Done():
			return
		case <-tick.C:
		}
		s.merging.Store(mergeNeeds(s.db.Tables()))
		if now, changed := s.tablesNow(known); changed {
			if err := now.writeList(s.opts.Dir); err != nil {
				s.opts.Log.Warn("the checksums of new tables are not kept", "error", err)
				continue
			}
			known = now
		}
	}
}

func (s *Store) liveTableIDs() []uint64 {
	var ids []uint64
	for _, t := range s.db.Tables() {
		ids = append(ids, t.ID)
	}
	slices.Sort(ids)
	return ids
}

func (s *Store) tablesNow(known *files) (now *files, changed bool) {
	ids, names := s.liveTableIDs(), listTables(s.opts.Dir)
	now = &files{Files: map[string]checksum{}}
	for _, id := range ids {
		name := names[id]
		sum, ok := known.Files[name]
		if !ok {
			var err error
			if sum, err = sumFile(filepath.Join(s.opts.Dir, name)); err != nil {
				return known, false // merged into another one meanwhile; or the next look says so
			}
			changed = true
		}
		now.Files[name] = sum
	}
	changed = changed || len(now.Files) != len(known.Files)
	// A table that Badger gave up while it was read may have been read in part.
	return now, changed && slices.Equal(ids, s.liveTableIDs()) && s.inPlace() == nil
}
