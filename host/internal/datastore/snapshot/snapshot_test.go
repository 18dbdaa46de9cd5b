package snapshot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/badger"
	"ctl.internal/host/internal/datastore/etcd"
	"ctl.internal/host/internal/datastore/memory"
	"ctl.internal/host/internal/datastore/snapshot"
	"ctl.internal/test/harness"
)

func commit(t testing.TB, s datastore.Store, ops ...datastore.Op) datastore.Revision {
	t.Helper()
	rev, err := s.Commit(context.Background(), datastore.Txn{Ops: ops})
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

func all(t testing.TB, s datastore.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := s.View(context.Background(), func(sn datastore.Snapshot) error {
		for ns, err := range sn.Namespaces() {
			if err != nil {
				return err
			}
			for e, err := range sn.Range(ns, datastore.RangeOptions{}) {
				if err != nil {
					return err
				}
				out[ns+" "+e.Key] = string(e.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func filled(t testing.TB) *memory.Store {
	t.Helper()
	s := memory.New(memory.Options{})
	t.Cleanup(func() { s.Close() })
	for i := range 300 {
		commit(t, s, datastore.Put("config", fmt.Sprint("/a=", i), []byte(strings.Repeat("v", i))), datastore.Put("plugin/x", fmt.Sprint(i), nil))
	}
	commit(t, s, datastore.Put("config", "large", bytes.Repeat([]byte{0, 1, 2}, 1<<20)), datastore.Put("lease", "role/poll", nil))
	return s
}

func saved(t testing.TB, s datastore.Store) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := snapshot.Save(context.Background(), s, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What is saved from one engine is restored into another one, without roles and nodes.
// Revisions go on after those of the snapshot where the engine counts them itself.
func TestRestoredStoreHoldsEverything(t *testing.T) {
	from := filled(t)
	file := saved(t, from)
	want := all(t, from)
	delete(want, "lease role/poll")
	for name, open := range map[string]func(t *testing.T) (datastore.Store, error){
		"memory": func(*testing.T) (datastore.Store, error) { return memory.New(memory.Options{}), nil },
		"badger": func(t *testing.T) (datastore.Store, error) { return badger.Open(badger.Options{Dir: t.TempDir()}) },
		"etcd": func(t *testing.T) (datastore.Store, error) {
			return etcd.Open(context.Background(), etcd.Options{Endpoints: []string{harness.Etcd(t)}, Prefix: "ctl-restored/"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			info, err := snapshot.Restore(context.Background(), s, bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			if info.Revision != from.Revision() || info.Entries != len(want) || info.At.IsZero() {
				t.Errorf("%+v", info)
			}
			if diff := cmp.Diff(want, all(t, s)); diff != "" {
				t.Error(diff)
			}
			if name != "etcd" && s.Revision() <= info.Revision {
				t.Errorf("revision %d after one of %d", s.Revision(), info.Revision)
			}
			_, err = snapshot.Restore(context.Background(), s, bytes.NewReader(file))
			if err == nil || !strings.Contains(err.Error(), "not empty") {
				t.Errorf("restored over data: %v", err)
			}
		})
	}
}

// A restored badger store is whole at the next start, too.
func TestRestoredStoreOpensAgain(t *testing.T) {
	from, dir := filled(t), t.TempDir()
	s, err := badger.Open(badger.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Restore(context.Background(), s, bytes.NewReader(saved(t, from))); err != nil {
		t.Fatal(err)
	}
	last := commit(t, s, datastore.Put("config", "after", nil))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = badger.Open(badger.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Revision() != last || len(all(t, s)) != len(all(t, from)) {
		t.Errorf("revision %d, want %d; %d entries", s.Revision(), last, len(all(t, s)))
	}
}

// A snapshot under load holds everything acknowledged before it began and no transaction
// in part.
func TestSavedUnderLoad(t *testing.T) {
	s, err := badger.Open(badger.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			v := []byte(fmt.Sprint(i))
			if _, err := s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "a", v), datastore.Put("n", fmt.Sprint("k", i%50), v), datastore.Put("z", "a", v)}}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 20 {
		before := commit(t, s, datastore.Put("mark", "m", nil))
		file := saved(t, s)
		info, err := snapshot.Check(bytes.NewReader(file))
		if err != nil || info.Revision < before {
			t.Fatalf("%+v, %v; want at least %d", info, err, before)
		}
		to := memory.New(memory.Options{})
		if _, err := snapshot.Restore(ctx, to, bytes.NewReader(file)); err != nil {
			t.Fatal(err)
		}
		if got := all(t, to); got["n a"] != got["z a"] {
			t.Fatalf("a transaction in part: %q and %q", got["n a"], got["z a"])
		}
		to.Close()
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// Every damaged snapshot is refused before a key is written.
func TestDamagedSnapshotIsRefused(t *testing.T) {
	s := memory.New(memory.Options{})
	defer s.Close()
	for i := range 20 {
		commit(t, s, datastore.Put("n", fmt.Sprint(i), []byte("value")))
	}
	file := saved(t, s)
	try := func(what string, file []byte) {
		t.Helper()
		to := memory.New(memory.Options{})
		defer to.Close()
		_, err := snapshot.Restore(context.Background(), to, bytes.NewReader(file))
		if err == nil || to.Revision() != 0 {
			t.Errorf("%s: %v, revision %d", what, err, to.Revision())
		}
	}
	for i := range file {
		flipped := bytes.Clone(file)
		flipped[i] ^= 0x10
		try(fmt.Sprint("flipped at ", i), flipped)
		try(fmt.Sprint("cut at ", i), file[:i])
	}
	try("longer", append(bytes.Clone(file), 0))
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestSaveSaysWhatFailed(t *testing.T) {
	if _, err := snapshot.Save(context.Background(), filled(t), failing{}); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := snapshot.Save(ctx, filled(t), io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func FuzzCheck(f *testing.F) {
	s := memory.New(memory.Options{})
	commit(f, s, datastore.Put("n", "k", []byte("v")))
	f.Add(saved(f, s))
	f.Add([]byte(`{"format":"ctl-snapshot","version":1}` + "\n\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if info, err := snapshot.Check(bytes.NewReader(in)); err == nil && info.Entries < 0 {
			t.Fatal(info)
		}
	})
}
