package badger

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		child(dir)
		return
	}
	if os.Getenv(leaksEnv) != "" {
		os.Exit(m.Run())
	}
	// Badger's allocator pool keeps a collector for the life of the process.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/dgraph-io/ristretto/v2/z.(*AllocatorPool).freeupAllocators"))
}

const leaksEnv = "CTL_TEST_STORE_LEAKS"

func openAt(t *testing.T, dir string, history int) *Store {
	t.Helper()
	s, err := Open(Options{Dir: dir, History: history})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t *testing.T, s *Store, key, value string) datastore.Revision {
	t.Helper()
	rev, err := s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", key, []byte(value))}})
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

func TestSurvivesReopening(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, 0)
	first := put(t, s, "k", "1")
	second := put(t, s, "k", "2")
	put(t, s, "large", strings.Repeat("v", 2<<20)) // beyond what Badger keeps inline
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, dir, 0)
	if s.Revision() != second+1 {
		t.Fatalf("revision %d, want %d", s.Revision(), second+1)
	}
	e, err := datastore.Get(context.Background(), s, "n", "k")
	if err != nil || string(e.Value) != "2" || e.Revision != second {
		t.Fatalf("%q at %d, %v", e.Value, e.Revision, err)
	}
	if e, err := datastore.Get(context.Background(), s, "n", "large"); err != nil || len(e.Value) != 2<<20 {
		t.Fatalf("large value: %d bytes, %v", len(e.Value), err)
	}
	seen, enough := 0, errors.New("enough")
	err = s.Watch(context.Background(), first, []datastore.Prefix{{Namespace: "n"}}, func(b datastore.Batch) error {
		if seen++; b.Revision == second+1 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || seen != 2 {
		t.Fatalf("resumed after the restart: %d batches, %v", seen, err)
	}
}

func TestLockedByAnotherOpen(t *testing.T) {
	dir := t.TempDir()
	openAt(t, dir, 0)
	_, err := Open(Options{Dir: dir})
	if !errors.Is(err, datastore.ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("error %v, want ErrLocked naming %s", err, dir)
	}
}

func TestUnwritableDirectoryIsNotDamage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(Options{Dir: filepath.Join(file, "store")})
	if err == nil || errors.Is(err, datastore.ErrDamaged) {
		t.Fatalf("error %v, want one that is not ErrDamaged", err)
	}
}

func TestStoreFilesAreThePrivateOnesOfTheOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	openAt(t, dir, 0)
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("mode %v, %v; want 0700", info.Mode(), err)
	}
}

// self starts this test binary as the child of a crash test.
func self(dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}
