package badger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore"
)

// Every file of a store is flipped, cut and removed, after an orderly end and after a
// crash. The store is refused and left as it is, or opens with all that was acknowledged.
func TestDamageOfEveryFile(t *testing.T) {
	if os.Getenv(leaksEnv) == "" { // Badger leaks goroutines when it refuses to open
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run", "^TestDamageOfEveryFile$", "-test.v")
		cmd.Env = append(os.Environ(), leaksEnv+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	damages := map[string]func(b []byte) []byte{
		"flipped at the beginning": flip(0),
		"flipped in the middle":    func(b []byte) []byte { return flip(len(b) / 2)(b) },
		"flipped in the data":      func(b []byte) []byte { return flip(max(0, len(bytes.TrimRight(b, "\x00"))-5))(b) },
		"cut by half":              func(b []byte) []byte { return b[:len(b)/2] },
		"cut at the end of data":   func(b []byte) []byte { return b[:max(0, len(bytes.TrimRight(b, "\x00"))-5)] },
		"emptied":                  func(b []byte) []byte { return nil },
		"removed":                  nil,
	}
	for _, crashed := range []bool{false, true} {
		made, origin := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "store")
		acked := storeWithTables(t, made, crashed)
		copyStore(t, made, origin)
		refused, opened := 0, 0
		for name, b := range content(t, origin) {
			for how, f := range damages {
				if len(b) == 0 && f != nil {
					continue
				}
				what := fmt.Sprintf("%s %s, crashed %v", name, how, crashed)
				dir := filepath.Join(t.TempDir(), "store")
				copyStore(t, origin, dir)
				if f == nil {
					if err := os.Remove(filepath.Join(dir, name)); err != nil {
						t.Fatal(err)
					}
				} else {
					edit(t, filepath.Join(dir, name), f)
				}
				before := content(t, dir)
				s, err := Open(Options{Dir: dir})
				if err != nil {
					refused++
					if !errors.Is(err, datastore.ErrDamaged) || !strings.Contains(err.Error(), dir) {
						t.Errorf("%s: %v", what, err)
					}
					for f, b := range content(t, dir) {
						if !bytes.Equal(b, before[f]) {
							t.Errorf("%s: %s was changed", what, f)
						}
					}
					continue
				}
				opened++
				s.patience = time.Minute // what is tested is not how fast the disk is
				if !crashed {
					t.Errorf("%s: was not noticed", what)
				}
				for i := range acked {
					e, err := datastore.Get(context.Background(), s, "n", strconv.Itoa(i))
					if err != nil || string(e.Value) != strconv.Itoa(i) {
						t.Errorf("%s: acknowledged write %d: %q, %v", what, i, e.Value, err)
						break
					}
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		t.Logf("crashed %v: %d refused, %d opened with everything", crashed, refused, opened)
	}
}

// storeWithTables has tables and, after a crash, a log.
func storeWithTables(t *testing.T, dir string, crashed bool) (acked map[int]bool) {
	t.Helper()
	for range 2 { // each orderly end makes a table
		s, err := Open(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		s.patience = time.Minute
		put(t, s, "table", strings.Repeat("v", 3<<20))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for crashed { // until all tables are listed: Badger merges those of before when it begins
		acked = runAndKill(t, dir, 200)
		known, err := readFiles(dir)
		if err != nil {
			t.Fatal(err)
		}
		listed := true
		for _, name := range listTables(dir) {
			if _, ok := known.checksumOf(name); !ok {
				listed = false
			}
		}
		if listed {
			return acked
		}
	}
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	acked = map[int]bool{}
	for i := range 200 {
		put(t, s, strconv.Itoa(i), strconv.Itoa(i))
		acked[i] = true
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return acked
}

func copyStore(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	for name := range content(t, from) {
		if err := copyFile(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".mem") { // most of it is a hole, which would only take time
			if err := os.Truncate(filepath.Join(to, name), 1<<20); err != nil {
				t.Fatal(err)
			}
		}
	}
}
