package counts

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"ctl.internal/plugins/repoinfo/commit"
)

func entries(from, to int) []Entry {
	var list []Entry
	for i := from; i < to; i++ {
		var e Entry
		sum := sha256.Sum256(binary.BigEndian.AppendUint32(nil, uint32(i)))
		copy(e.Key[:20], sum[:]) // of SHA-1's length; the rest stays zero
		e.Lines = commit.Lines{Insertions: uint32(i), Deletions: uint32(2 * i), Files: 1}
		list = append(list, e)
	}
	return list
}

func store(t *testing.T, dir string) *Store {
	t.Helper()
	s := NewStore(dir, 1<<20, slog.New(slog.DiscardHandler))
	t.Cleanup(s.Close)
	return s
}

// known says which of the entries are there, and fails on a wrong one.
func known(t *testing.T, p *Project, list []Entry) int {
	t.Helper()
	n := 0
	for _, e := range list {
		l, ok := p.Get(e.Key)
		if ok && l != e.Lines {
			t.Fatalf("%x: %+v, want %+v", e.Key, l, e.Lines)
		}
		if ok {
			n++
		}
	}
	return n
}

func TestCountsSurviveARestart(t *testing.T) {
	dir, list := t.TempDir(), entries(0, 10_000)
	p, _ := store(t, dir).Use("a/b", Options{}, 20) // never closed: as after kill -9
	p.Add(list[:5000])
	p.Add(list[4000:])
	again, release := store(t, dir).Use("a/b", Options{}, 20)
	defer release()
	if n := known(t, again, list); n != len(list) || again.Len() != len(list) {
		t.Fatalf("%d of %d known, %d records", n, len(list), again.Len())
	}
	other, release := store(t, dir).Use("a/b", Options{Renames: true}, 20)
	defer release()
	if n := known(t, other, list); n != 0 {
		t.Fatalf("%d counts under other options", n)
	}
}

func TestDamagedFiles(t *testing.T) {
	list := entries(0, 100)
	for _, row := range []struct {
		name   string
		damage func(data []byte) []byte
		known  int
	}{
		{"torn tail", func(d []byte) []byte { return d[:len(d)-5] }, 99},
		{"flipped bit", func(d []byte) []byte { d[headerSize+36*10+3] ^= 1; return d }, 99},
		{"zeroed middle", func(d []byte) []byte { clear(d[headerSize : headerSize+36*5]); return d }, 95},
		{"emptied", func([]byte) []byte { return nil }, 0},
		{"half a header", func(d []byte) []byte { return d[:7] }, 0},
		{"something else", func([]byte) []byte { return []byte("<html>this is no cache at all</html>") }, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			p, _ := store(t, dir).Use("p", Options{}, 20)
			p.Add(list)
			path := filepath.Join(dir, digest("p")+"-plain-20.counts")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, row.damage(data), 0o600); err != nil {
				t.Fatal(err)
			}
			p, _ = store(t, dir).Use("p", Options{}, 20)
			if n := known(t, p, list); n != row.known {
				t.Errorf("%d known, want %d", n, row.known)
			}
			p.Add(list)
			p, _ = store(t, dir).Use("p", Options{}, 20)
			if n := known(t, p, list); n != len(list) {
				t.Errorf("after counting again %d known", n)
			}
		})
	}
}

func TestFullDiskCostsNothingButTheCache(t *testing.T) {
	dir, list := t.TempDir(), entries(0, 100)
	p, _ := store(t, dir).Use("p", Options{}, 20)
	p.Add(list[:50])
	p.write = func(f *os.File, b []byte) error {
		return locked(f, func() error {
			info, err := f.Stat()
			if err != nil {
				return err
			}
			_, err = f.Write(b[:len(b)/3])
			return errors.Join(err, syscall.ENOSPC, f.Truncate(info.Size()))
		})
	}
	p.Add(list[50:80])
	if n := known(t, p, list); n != 80 {
		t.Errorf("%d known in memory", n)
	}
	p.write = func(*os.File, []byte) error { t.Error("written at once again"); return nil }
	p.Add(list[80:])
	p, _ = store(t, dir).Use("p", Options{}, 20)
	if n := known(t, p, list); n != 50 {
		t.Errorf("%d known after a restart", n)
	}
}

func TestFolderThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, _ := store(t, filepath.Join(file, "x")).Use("p", Options{}, 20)
	p.Add(entries(0, 5))
	if n := known(t, p, entries(0, 5)); n != 5 {
		t.Errorf("%d known", n)
	}
}

func TestIdleCountsLeaveMemory(t *testing.T) {
	s := NewStore(t.TempDir(), 0, slog.New(slog.DiscardHandler))
	defer s.Close()
	p, release := s.Use("p", Options{}, 32)
	p.Add(entries(0, 10))
	q, releaseQ := s.Use("p", Options{}, 32)
	if q != p {
		t.Error("a project in use was opened twice")
	}
	release()
	release()
	if len(s.open) != 1 {
		t.Error("closed while in use")
	}
	releaseQ()
	if len(s.open) != 0 {
		t.Error("idle counts stay")
	}
}

func TestMemoryOfALongHistory(t *testing.T) {
	p := newProject(20, slog.New(slog.DiscardHandler))
	p.Add(entries(0, 100_000))
	if b := p.table.bytes(); b > 8<<20 {
		t.Errorf("100,000 commits take %d bytes", b)
	}
}

func FuzzLoad(f *testing.F) {
	good := append(header(20), encode(entries(0, 3), 20)...)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		file, _, err := openFile(path, 20, func(*Entry) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		if err := appendFile(file, encode(entries(7, 8), 20)); err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		found := false
		file, _, err = openFile(path, 20, func(e *Entry) bool { found = found || *e == entries(7, 8)[0]; return true })
		if err != nil || !found {
			t.Fatalf("what was written after the damage is lost: %v", err)
		}
		_ = file.Close()
	})
}
