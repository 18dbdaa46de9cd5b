package counts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/jobs"
)

func commits(n int) []commit.Commit {
	list := make([]commit.Commit, n)
	for i := range list {
		list[i].Hash = fmt.Appendf(nil, "%040x", i+1)
	}
	return list
}

// kept is a table with its store.
type kept struct {
	*Table
	store *jobs.Store
}

func (k kept) Close() { k.store.Close() }

func openIn(t *testing.T, dir string) kept {
	t.Helper()
	store := jobs.Open(dir, 1<<20, slog.New(slog.DiscardHandler))
	k := kept{NewTable(store), store}
	t.Cleanup(k.Close)
	return k
}

// counter counts what it was asked, and lets a test decide about the rest.
type counter struct {
	asked atomic.Int64
	began chan struct{} // closed by the first call
	gate  chan struct{}
	lost  func(hash string) bool
	fail  error
}

func (c *counter) Count(ctx context.Context, hashes [][]byte, result Result) error {
	if c.began != nil {
		close(c.began)
	}
	if c.gate != nil {
		select {
		case <-c.gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for i, h := range hashes {
		c.asked.Add(1)
		if c.fail != nil {
			return c.fail
		}
		if c.lost == nil || !c.lost(string(h)) {
			result(i, commit.Lines{Insertions: uint64(len(h)), Files: 1}, nil)
		}
	}
	return nil
}

func TestManyCallersCountOnce(t *testing.T) {
	s := openIn(t, t.TempDir())
	c := &counter{gate: make(chan struct{})}
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			list := commits(500)
			if err := s.Fill(t.Context(), Options{}, c, list); err != nil {
				t.Error(err)
			}
			for i := range list {
				if list[i].State != commit.Known || list[i].Lines.Insertions != 40 {
					t.Errorf("commit %d: %+v", i, list[i])
					return
				}
			}
		})
	}
	close(c.gate)
	all.Wait()
	if n := c.asked.Load(); n != 500 {
		t.Errorf("500 commits were counted %d times", n)
	}
}

func TestTheNextCallerCountsWhatTheFirstGaveUp(t *testing.T) {
	s := openIn(t, t.TempDir())
	first := &counter{began: make(chan struct{}), gate: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { gone <- s.Fill(ctx, Options{}, first, commits(10)) }()
	<-first.began
	list, done := commits(10), make(chan error)
	go func() { done <- s.Fill(t.Context(), Options{}, &counter{}, list) }()
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("first: %v", err)
	}
	if err := <-done; err != nil || list[9].State != commit.Known {
		t.Errorf("second: %v, %+v", err, list[9])
	}
}

func TestAMissingObjectIsUnknownUntilItComes(t *testing.T) {
	s := openIn(t, t.TempDir())
	c := &counter{lost: func(h string) bool { return h == fmt.Sprintf("%040x", 3) }}
	for range 2 {
		list := commits(5)
		if err := s.Fill(t.Context(), Options{}, c, list); err != nil {
			t.Fatal(err)
		}
		if list[2].State != commit.Unknown || list[3].State != commit.Known {
			t.Fatalf("%+v", list)
		}
	}
	c.lost = nil
	list := commits(5)
	if err := s.Fill(t.Context(), Options{}, c, list); err != nil || list[2].State != commit.Known {
		t.Errorf("after the object came: %v, %+v", err, list[2])
	}
}

func TestAFailureIsNoCount(t *testing.T) {
	s := openIn(t, t.TempDir())
	list := commits(5)
	if err := s.Fill(t.Context(), Options{}, &counter{fail: errors.New("no git")}, list); err == nil {
		t.Error("no error")
	}
	if n := s.Look(Options{}, list); n != 5 {
		t.Errorf("%d unknown", n)
	}
}

func TestCountsOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	for _, o := range []Options{{}, {Renames: true}, {View: "grafted"}} {
		if err := s.Fill(t.Context(), o, &counter{}, commits(flushAt+10)); err != nil {
			t.Fatal(err)
		}
	}
	secret := s.store.Secret("cursor", func() []byte { return []byte("12345678") })
	s.Close()
	s = openIn(t, dir)
	for _, o := range []Options{{}, {Renames: true}, {View: "grafted"}} {
		if n := s.Look(o, commits(flushAt+10)); n != 0 {
			t.Errorf("%+v: %d unknown", o, n)
		}
	}
	if n := s.Look(Options{Renames: true, View: "grafted"}, commits(10)); n != 10 {
		t.Errorf("counts of other options were taken: %d unknown", n)
	}
	if again := s.store.Secret("cursor", func() []byte { return []byte("abcdefgh") }); !bytes.Equal(secret, again) {
		t.Error("the secret changed")
	}
}

func TestADamagedFileIsMadeAgain(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"cut":     func(b []byte) []byte { return b[:len(b)/3] },
		"crashed": func(b []byte) []byte { return b },
		"text":    func([]byte) []byte { return []byte("not a database\n") },
		"garbled": func(b []byte) []byte { return append(b[:8192:8192], bytes.Repeat([]byte{0xa5}, len(b)-8192)...) },
	} {
		dir := t.TempDir()
		s := openIn(t, dir)
		if err := s.Fill(t.Context(), Options{}, &counter{}, commits(20_000)); err != nil {
			t.Fatal(err)
		}
		s.Close()
		path := filepath.Join(dir, "counts", "counts.db")
		if name == "crashed" {
			if err := os.WriteFile(path+".opening", nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, damage(b), 0o600); err != nil {
			t.Fatal(err)
		}
		s = openIn(t, dir)
		list := commits(100)
		if err := s.Fill(t.Context(), Options{}, &counter{}, list); err != nil || list[7].Lines.Insertions != 40 {
			t.Errorf("%s: %v %+v", name, err, list[7])
		}
		s.Close()
		if s = openIn(t, dir); s.Look(Options{}, commits(100)) != 0 {
			t.Errorf("%s: nothing is kept any more", name)
		}
		s.Close()
	}
}

func TestAFileThatCannotBeUsed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := openIn(t, dir)
	list := commits(3)
	if err := s.Fill(t.Context(), Options{}, &counter{}, list); err != nil || list[0].State != commit.Known {
		t.Errorf("%v %+v", err, list[0])
	}
}
