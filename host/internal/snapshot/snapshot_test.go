package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/open"
	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/fault"
	"ctl.internal/test/harness"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var templates = fstest.MapFS{"etc/ctl.yaml": {Data: []byte("{}\n")}, "features.yaml": {Data: []byte("features: []\n")}}

func newHome(t *testing.T) (*home.Home, datastore.Store) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "h")
	h, err := home.Open(dir, templates)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h, openStore(t, h.Dir)
}

func openStore(t *testing.T, dir home.Dir) datastore.Store {
	t.Helper()
	loaded, problems := home.Load(dir, os.Environ(), nil)
	if err := home.Fatal(problems); err != nil {
		t.Fatal(err)
	}
	s, err := open.Store(t.Context(), dir, loaded.Datastore, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t *testing.T, s datastore.Store, ns, key, value string) {
	t.Helper()
	if _, err := s.Commit(context.Background(), datastore.Txn{Ops: []datastore.Op{datastore.Put(ns, key, []byte(value))}}); err != nil {
		t.Fatal(err)
	}
}

func save(t *testing.T, h *home.Home, s datastore.Store) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "snap.tar")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Save(t.Context(), Source{Dir: h.Dir, Store: s, Version: "test", Node: "n1"}, f, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// A home restored from a snapshot that was taken under load holds every write that was
// acknowledged before the snapshot began, and its files.
func TestARestoredHomeHoldsWhatWasAcknowledgedBefore(t *testing.T) {
	h, store := newHome(t)
	if err := home.WriteFile(h.SSL("ctl.jks"), []byte("keystore"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		put(t, store, "test", fmt.Sprintf("before/%02d", i), strings.Repeat("x", 50_000))
	}
	put(t, store, "lease", "node/n1", "alive")
	put(t, store, "cluster", "id", "old")
	stop, wg := make(chan struct{}), sync.WaitGroup{}
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					put(t, store, "test", fmt.Sprintf("during/%d/%d", w, i), "v")
				}
			}
		})
	}
	file := save(t, h, store)
	close(stop)
	wg.Wait()
	put(t, store, "test", "after", "v")

	into := filepath.Join(t.TempDir(), "new")
	r, err := Restore(t.Context(), into, file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Aside != "" || r.Head.Node != "n1" {
		t.Errorf("%+v", r)
	}
	dir := home.Dir(into)
	restored := openStore(t, dir)
	for i := range 50 {
		if e, err := datastore.Get(t.Context(), restored, "test", fmt.Sprintf("before/%02d", i)); err != nil || len(e.Value) != 50_000 {
			t.Fatalf("before/%02d: %v", i, err)
		}
	}
	for _, absent := range [][2]string{{"test", "after"}, {"lease", "node/n1"}, {"cluster", "id"}} {
		if _, err := datastore.Get(t.Context(), restored, absent[0], absent[1]); !errors.Is(err, datastore.ErrNotFound) {
			t.Errorf("%v: %v", absent, err)
		}
	}
	if b, err := os.ReadFile(dir.SSL("ctl.jks")); err != nil || string(b) != "keystore" {
		t.Errorf("keystore: %q %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(into, ".restore")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the stage is left: %v", err)
	}
}

// With both engines the restored store has every entry, in its own order, and its revisions
// go on after those of the snapshot, over a restart too: an epoch or a generation that was
// written down before is never larger than a new one.
func TestRevisionsGoOnAfterThoseOfTheSnapshot(t *testing.T) {
	for _, engine := range []string{"badger", "etcd"} {
		t.Run(engine, func(t *testing.T) {
			if engine == "etcd" {
				t.Setenv("CTL_DATASTORE_ENGINE", "etcd")
				t.Setenv("CTL_DATASTORE_ETCD_ENDPOINTS", "["+harness.Etcd(t)+"]")
			}
			h, from := newHome(t)
			for i := range 300 {
				put(t, from, "config", fmt.Sprint("/a=", i), strings.Repeat("v", i))
			}
			put(t, from, "config", "large", strings.Repeat("\x00\x01\x02", 1<<20))
			put(t, from, "operational-tree", "/x:x", "observed")
			file := save(t, h, from)
			want := content(t, from)
			if engine == "etcd" { // a new cluster, which begins to count
				t.Setenv("CTL_DATASTORE_ETCD_ENDPOINTS", "["+harness.Etcd(t)+"]")
			}
			into := filepath.Join(t.TempDir(), "new")
			r, err := Restore(t.Context(), into, file, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Head.Revision != uint64(from.Revision()) {
				t.Errorf("the snapshot has revision %d, the store %d", r.Head.Revision, from.Revision())
			}
			last := datastore.Revision(r.Head.Revision)
			for range 2 {
				s := openStore(t, home.Dir(into))
				got := content(t, s)
				for _, k := range []string{"cluster restored", "test k"} {
					delete(got, k)
				}
				if !maps.Equal(got, want) {
					t.Errorf("%d entries are restored, want %d", len(got), len(want))
				}
				put(t, s, "test", "k", "v")
				e, err := datastore.Get(t.Context(), s, "test", "k")
				if err != nil || e.Revision <= last || e.Revision != s.Revision() {
					t.Errorf("a write has revision %d, the store %d, after %d: %v", e.Revision, s.Revision(), last, err)
				}
				// Conditions count as the store does.
				again := datastore.Txn{Ops: []datastore.Op{datastore.Put("test", "k", nil)}, Compares: []datastore.Compare{
					{Namespace: "test", Key: "k", Revision: e.Revision}, {Namespace: "test", Key: "none"}, {Namespace: "config", Revision: e.Revision, Prefix: true}}}
				if last, err = s.Commit(t.Context(), again); err != nil || last <= e.Revision {
					t.Errorf("a commit with conditions: revision %d, %v", last, err)
				}
				var lost *datastore.ConflictError
				if _, err := s.Commit(t.Context(), again); !errors.As(err, &lost) || lost.Revision != last {
					t.Errorf("a condition that does not hold: %v", err)
				}
				again.Compares = []datastore.Compare{{Namespace: "test", Key: "k", Revision: 1}}
				if _, err := s.Commit(t.Context(), again); !errors.As(err, &lost) {
					t.Errorf("a condition from before the snapshot: %v", err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if engine == "etcd" {
				if _, err := Restore(t.Context(), filepath.Join(t.TempDir(), "another"), file, nil); err == nil || !strings.Contains(err.Error(), "not empty") {
					t.Errorf("restored over data: %v", err)
				}
			}
		})
	}
}

// content is what a snapshot has of a store.
func content(t *testing.T, s datastore.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := s.View(t.Context(), func(sn datastore.Snapshot) error {
		return eachLastingEntry(t.Context(), sn, func(ns string, e datastore.Entry) error {
			out[ns+" "+e.Key] = string(e.Value)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestASaveThatFailsSaysWhy(t *testing.T) {
	h, s := newHome(t)
	source := Source{Dir: h.Dir, Store: s}
	if err := Save(t.Context(), source, failing{}, nil); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("a full disk: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Save(ctx, source, io.Discard, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v", err)
	}
}

// What was in a home is kept aside, and a home in use is not touched.
func TestARestoreKeepsTheHomeBeforeAside(t *testing.T) {
	h, store := newHome(t)
	put(t, store, "test", "k", "1")
	file := save(t, h, store)
	put(t, store, "test", "k", "2")
	if _, err := Restore(t.Context(), string(h.Dir), file, nil); !errors.Is(err, home.ErrInUse) {
		t.Fatalf("a home in use: %v", err)
	}
	if err := errors.Join(store.Close(), h.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := Restore(t.Context(), string(h.Dir), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := datastore.Get(t.Context(), openStore(t, h.Dir), "test", "k"); err != nil || string(e.Value) != "1" {
		t.Errorf("restored: %q %v", e.Value, err)
	}
	if _, err := os.Stat(filepath.Join(r.Aside, "data", "store")); err != nil {
		t.Errorf("aside: %v", err)
	}
	again, err := home.Open(string(h.Dir), templates)
	if err != nil {
		t.Fatalf("the restored home does not open: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// A controller does not start in a home whose restore was broken off; another restore
// makes it whole.
func TestABrokenOffRestoreIsNotAHome(t *testing.T) {
	h, store := newHome(t)
	file := save(t, h, store)
	if err := errors.Join(store.Close(), h.BeginRestore(), h.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(h.Path("etc"), h.Path("lost")); err != nil {
		t.Fatal(err)
	}
	if _, err := home.Open(string(h.Dir), templates); err == nil || !strings.Contains(err.Error(), "snapshot restore again") {
		t.Fatalf("opened: %v", err)
	}
	if _, err := Restore(t.Context(), string(h.Dir), file, nil); err != nil {
		t.Fatal(err)
	}
	again, err := home.Open(string(h.Dir), templates)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// Whatever byte of a snapshot is changed or missing, it is refused and nothing is done.
func TestADamagedSnapshotChangesNothing(t *testing.T) {
	h, store := newHome(t)
	put(t, store, "test", "k", strings.Repeat("value", 100))
	file := save(t, h, store)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	into := filepath.Join(t.TempDir(), "new")
	damage := func(name string, content []byte) {
		t.Helper()
		bad := filepath.Join(t.TempDir(), "bad.tar")
		if err := os.WriteFile(bad, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), into, bad, nil); err == nil {
			t.Errorf("%s: it was restored", name)
		} else if k := fault.KindOf(err); k != fault.Invalid && k != fault.Unsupported {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(into); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the home was touched", name)
		}
	}
	for at := bytes.Index(whole, []byte("store/0000")) + 512; at < len(whole)-2048; at += 251 {
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		if bytes.Equal(bytes.Trim(changed[at:at+1], "\x01"), nil) { // padding of the archive
			continue
		}
		damage(fmt.Sprintf("byte %d", at), changed)
	}
	for _, n := range []int{0, 100, 512, len(whole) / 2, len(whole) - 3000} {
		damage(fmt.Sprintf("%d bytes", n), whole[:n])
	}
	damage("another archive", bytes.Replace(bytes.Clone(whole), []byte(headName), []byte("passwords.txt"), 1))
}

// Only what a snapshot may hold reaches the home.
func TestNamesThatLeadElsewhereAreRefused(t *testing.T) {
	for name, want := range map[string]bool{
		"etc/ctl.yaml": true, "configuration/ssl/ctl.jks": true, "features.yaml": true, "features.d/x.yaml": true, "data/format": true,
		"etc/../../x": false, "/etc/passwd": false, "../x": false, "data/store/x": false, "plugins/x": false, "": false, "etc//x": false,
	} {
		if isKept(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func FuzzEntries(f *testing.F) {
	f.Add(appendEntry(nil, "n", datastore.Entry{Key: "k", Value: []byte("v")}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, in []byte) {
		var again []byte
		err := eachPartEntry(in, func(ns, key string, value []byte) error {
			again = appendEntry(again, ns, datastore.Entry{Key: key, Value: value})
			return nil
		})
		if err == nil && eachPartEntry(again, func(string, string, []byte) error { return nil }) != nil {
			t.Error("it is not read again as it was written")
		}
	})
}

func FuzzWalk(f *testing.F) {
	var b bytes.Buffer
	b.WriteString("snapshot.json")
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := walkSnapshot("f", bytes.NewReader(data), visit{}); err == nil && len(data) < 512 {
			t.Error("nothing was taken for a snapshot")
		}
	})
}
