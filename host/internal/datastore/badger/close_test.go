package badger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

func value(t *testing.T, s *Store, key string) string {
	t.Helper()
	e, err := datastore.Get(context.Background(), s, "n", key)
	if err != nil {
		t.Fatal(err)
	}
	return string(e.Value)
}

// A directory that goes away under a running controller takes no more writes, because
// they would be acknowledged and lost, and holds up nobody's end; one that stands in
// its place is left alone. When it comes back, all is there.
func TestADirectoryThatIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	away := dir + ".away"
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "k", "1")
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	write := datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", []byte("2"))}}
	refused := func(err error) {
		t.Helper()
		if !errors.Is(err, datastore.ErrMoved) || fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), dir) {
			t.Fatalf("got %v, want ErrMoved with %s", err, dir)
		}
	}
	_, err = s.Commit(context.Background(), write)
	refused(err)
	if got := value(t, s, "k"); got != "1" {
		t.Fatalf("read %q", got)
	}
	// Another store takes the place, as when a backup is unpacked too early.
	other, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	put(t, other, "k", "backup")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = s.Commit(context.Background(), write)
	refused(err)
	before := content(t, dir)
	refused(s.Close())
	for name, b := range content(t, dir) {
		if string(before[name]) != string(b) {
			t.Errorf("%s of the other store was changed", name)
		}
	}
	if err := os.Rename(dir, dir+".other"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	// What the end of the process does: the lock goes, the log stays as it is.
	if _, err := Open(Options{Dir: dir}); !errors.Is(err, datastore.ErrLocked) {
		t.Fatalf("opened while the first process lives: %v", err)
	}
	if err := errors.Join(s.db.Close(), s.tip.close(), s.lock.Close()); err != nil {
		t.Fatal(err)
	}
	if got := value(t, openAt(t, dir, 0), "k"); got != "1" {
		t.Fatalf("after the next start: %q", got)
	}
}

// blocked makes the name of the next table one that cannot be made, as on a disk that
// became read-only, until the returned function is called.
func blocked(t *testing.T, dir string) (unblock func()) {
	t.Helper()
	var made []string
	for id := range 200 {
		path := filepath.Join(dir, fmt.Sprintf("%06d.sst", id))
		if err := os.Mkdir(path, 0o700); errors.Is(err, os.ErrExist) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		made = append(made, path)
	}
	return func() {
		for _, path := range made {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		}
	}
}

// Badger tries to write its last table for ever; an orderly end does not.
func TestCloseGivesUpWhatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	s.patience = time.Millisecond
	put(t, s, "k", "1")
	unblock := blocked(t, dir)
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "next start") {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	unblock() // Badger's next try ends its goroutines; the lock goes last
	fd := lockOf(t, dir)
	if err := errors.Join(unix.Flock(fd, unix.LOCK_EX), unix.Flock(fd, unix.LOCK_UN)); err != nil {
		t.Fatal(err)
	}
	if got := value(t, openAt(t, dir, 0), "k"); got != "1" {
		t.Fatalf("after the next start: %q", got)
	}
}

// A full disk at the end is not written to: the memory map would end the process.
func TestCloseOnAFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "k", "1")
	s.free = func(string) (int64, error) { return 0, nil }
	if err := s.Close(); !errors.Is(err, datastore.ErrFull) || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
	if err := errors.Join(s.db.Close(), s.tip.close(), s.lock.Close()); err != nil {
		t.Fatal(err)
	}
	if got := value(t, openAt(t, dir, 0), "k"); got != "1" {
		t.Fatalf("after the next start: %q", got)
	}
}

func lockOf(t *testing.T, dir string) int {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return int(f.Fd())
}
