package badger

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// A full disk refuses writes, with a word on what to do, and nothing else: reads go on,
// and writes too as soon as there is room. Without the look before, Badger's memory map
// would end the process.
func TestAFullDiskRefusesWrites(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var have atomic.Int64
	have.Store(1 << 40)
	s.free = func(string) (int64, error) { return have.Load(), nil } // before the first commit: the writer has not looked yet
	first := put(t, s, "k", "1")

	have.Store(keepFree - 1)
	_, err = s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", []byte("2"))}})
	if !errors.Is(err, datastore.ErrFull) || fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), s.opts.Dir) {
		t.Fatalf("with a full disk: %v", err)
	}
	if e, err := datastore.Get(context.Background(), s, "n", "k"); err != nil || string(e.Value) != "1" || s.Revision() != first {
		t.Fatalf("reading from a full disk: %q %v, revision %d", e.Value, err, s.Revision())
	}

	have.Store(keepFree + 1<<20)
	large := datastore.Put("n", "k", make([]byte, 2<<20))
	if _, err = s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{large}}); !errors.Is(err, datastore.ErrFull) {
		t.Fatalf("more than there is room for: %v", err)
	}
	if rev := put(t, s, "k", "3"); rev != first+1 {
		t.Fatalf("with room again: revision %d after %d", rev, first)
	}
	s.free = func(string) (int64, error) { return 0, errors.New("not known here") }
	put(t, s, "k", "4")
}

func TestUnflushedCountsBlocksNotHoles(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "00001.mem"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, 8192)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(1<<30), f.Sync()); err != nil {
		t.Fatal(err)
	}
	if n := unflushedBytes(dir); n < 8192 || n > 1<<20 {
		t.Errorf("a file of 8192 bytes and holes counts as %d", n)
	}
	if err := checkDiskRoom(dir, 1<<62, freeOn); !errors.Is(err, datastore.ErrFull) {
		t.Errorf("a disk with room for 4 EiB: %v", err)
	}
}
