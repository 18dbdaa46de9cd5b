package badger

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"ctl.internal/host/internal/datastore"
)

// content is every file of a store, to see that a refused start changed none.
func content(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, f := range files {
		if f.Name() == lockName || f.IsDir() {
			continue
		}
		if all[f.Name()], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("no %s in %s, %v", pattern, dir, err)
	}
	return found[len(found)-1]
}

func edit(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

func flip(at int) func([]byte) []byte {
	return func(b []byte) []byte { b[at] ^= 0xff; return b }
}

func cut(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:len(b)-n] } }

// TestDamageIsToldAndNothingIsChanged damages a store in the ways that Badger
// alone would repair by losing data, or report without the file.
func TestDamageIsToldAndNothingIsChanged(t *testing.T) {
	cases := map[string]struct {
		crashed bool // the process was killed, so the data is in the write-ahead log
		damage  func(t *testing.T, dir string)
		says    string
	}{
		"a flipped byte in the middle of the log": {true, func(t *testing.T, dir string) {
			edit(t, one(t, dir, "*.mem"), flip(5000))
		}, ".mem"},
		"a log wiped from the middle on": {true, func(t *testing.T, dir string) {
			edit(t, one(t, dir, "*.mem"), func(b []byte) []byte { clear(b[5000:]); return b })
		}, "was acknowledged"},
		"a log that is gone": {true, func(t *testing.T, dir string) {
			if err := os.Remove(one(t, dir, "*.mem")); err != nil {
				t.Fatal(err)
			}
		}, "was acknowledged"},
		"a manifest cut short": {false, func(t *testing.T, dir string) { edit(t, one(t, dir, "MANIFEST"), cut(3)) }, "MANIFEST"},
		"a manifest flipped":   {false, func(t *testing.T, dir string) { edit(t, one(t, dir, "MANIFEST"), flip(20)) }, "MANIFEST"},
		"a manifest gone": {false, func(t *testing.T, dir string) {
			if err := os.Remove(one(t, dir, "MANIFEST")); err != nil {
				t.Fatal(err)
			}
		}, "MANIFEST"},
		"a table gone": {false, func(t *testing.T, dir string) {
			if err := os.Remove(one(t, dir, "*.sst")); err != nil {
				t.Fatal(err)
			}
		}, ".sst"},
		"a table flipped": {false, func(t *testing.T, dir string) { edit(t, one(t, dir, "*.sst"), flip(30)) }, ".sst"},
		"a table cut":     {false, func(t *testing.T, dir string) { edit(t, one(t, dir, "*.sst"), cut(40)) }, ".sst"},
		"the tip gone": {false, func(t *testing.T, dir string) {
			if err := os.Remove(one(t, dir, tipName)); err != nil {
				t.Fatal(err)
			}
		}, tipName},
		"the tip flipped": {false, func(t *testing.T, dir string) { edit(t, one(t, dir, tipName), flip(12)) }, tipName},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			if c.crashed {
				runAndKill(t, dir, 200)
			} else {
				s := openAt(t, dir, 0)
				put(t, s, "k", strings.Repeat("v", 100))
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			c.damage(t, dir)
			before := content(t, dir)
			_, err := Open(Options{Dir: dir})
			if !errors.Is(err, datastore.ErrDamaged) {
				t.Fatalf("error %v, want ErrDamaged", err)
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "backup") {
				t.Errorf("%v: want %q and the remedy", err, c.says)
			}
			t.Log(err)
			for f, b := range content(t, dir) {
				if !bytes.Equal(b, before[f]) {
					t.Errorf("%s was changed", f)
				}
			}
		})
	}
}

// TestInterruptedWriteIsNoDamage appends what was never acknowledged to the log.
func TestInterruptedWriteIsNoDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	acked := runAndKill(t, dir, 200)
	edit(t, one(t, dir, "*.mem"), func(b []byte) []byte {
		end := len(bytes.TrimRight(b, "\x00"))
		copy(b[end+4:], b[20:50]) // the beginning of another entry
		return b
	})
	s := openAt(t, dir, 0)
	if s.Revision() < datastore.Revision(len(acked)) {
		t.Fatalf("revision %d after %d acknowledged writes", s.Revision(), len(acked))
	}
}

// A crash leaves files of no size where Badger was making or removing one; nothing that was
// acknowledged is in them.
func TestEmptyFilesOfACrashAreNoDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	acked := runAndKill(t, dir, 200)
	f, err := readFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	f.Files["000099.sst"] = checksum{Size: 10, CRC: 1} // was merged, and not removed yet
	if err := f.writeList(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"00099.mem", "000099.vlog", "000099.sst"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := openAt(t, dir, 0)
	if s.Revision() < datastore.Revision(len(acked)) {
		t.Fatalf("revision %d after %d acknowledged writes", s.Revision(), len(acked))
	}
	put(t, s, "after", "1")
}

func FuzzDecodeBatches(f *testing.F) {
	f.Add(encodeBatches([]datastore.Batch{{Revision: 7, By: "admin", Events: []datastore.Event{
		{Namespace: "n", Entry: datastore.Entry{Key: "k", Value: []byte("v")}}, {Namespace: "n", Entry: datastore.Entry{Key: "l"}, Deleted: true}}}}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		batches, err := decodeBatches(in)
		if err != nil {
			return
		}
		if again, err := decodeBatches(encodeBatches(batches)); err != nil || len(again) != len(batches) {
			t.Fatalf("not read back: %v", err)
		}
	})
}

// The store of an early release is not called damaged, and stays as it is.
func TestAStoreOfAnEarlyRelease(t *testing.T) {
	dir := t.TempDir()
	db, err := badger.Open(engineOptions(dir, slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(x *badger.Txn) error { return x.Set([]byte("mrevision"), []byte("12345678")) }); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	tip, err := openTip(dir, 1)
	if err == nil {
		err = tip.close()
	}
	if err != nil {
		t.Fatal(err)
	}
	before := content(t, dir)
	for range 2 {
		_, err = Open(Options{Dir: dir})
		if !errors.Is(err, datastore.ErrOlder) || errors.Is(err, datastore.ErrDamaged) || strings.Contains(err.Error(), "move it away") || !strings.Contains(err.Error(), "/rests/data") {
			t.Errorf("%v", err)
		}
	}
	if !maps.EqualFunc(content(t, dir), before, bytes.Equal) {
		t.Error("it was changed")
	}
}
