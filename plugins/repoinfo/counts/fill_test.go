package counts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"ctl.internal/plugins/repoinfo/commit"
)

func commits(n int) []commit.Commit {
	list := make([]commit.Commit, n)
	for i := range list {
		list[i].Hash = fmt.Appendf(nil, "%040x", i+1)
	}
	return list
}

// counter counts what it was asked, and lets a test decide about the rest.
type counter struct {
	asked atomic.Int64
	began chan struct{} // closed by the first call
	gate  chan struct{}
	lost  func(hash string) bool
	fail  error
}

func (c *counter) Count(ctx context.Context, hashes [][]byte, result func(int, commit.Lines)) error {
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
			result(i, commit.Lines{Insertions: uint32(len(h)), Files: 1})
		}
	}
	return nil
}

func TestManyCallersCountOnce(t *testing.T) {
	p := newProject(20, slog.New(slog.DiscardHandler))
	c := &counter{gate: make(chan struct{})}
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			list := commits(500)
			if err := p.Fill(t.Context(), c, list); err != nil {
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
	p := newProject(20, slog.New(slog.DiscardHandler))
	first := &counter{began: make(chan struct{}), gate: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { gone <- p.Fill(ctx, first, commits(10)) }()
	<-first.began
	second := &counter{}
	done := make(chan error)
	list := commits(10)
	go func() { done <- p.Fill(t.Context(), second, list) }()
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("first: %v", err)
	}
	if err := <-done; err != nil || list[9].State != commit.Known {
		t.Errorf("second: %v, %+v", err, list[9])
	}
}

func TestMissingIsAskedOnceUntilForgotten(t *testing.T) {
	p := newProject(20, slog.New(slog.DiscardHandler))
	c := &counter{lost: func(h string) bool { return h == fmt.Sprintf("%040x", 3) }}
	for range 3 {
		list := commits(5)
		if err := p.Fill(t.Context(), c, list); err != nil {
			t.Fatal(err)
		}
		if list[2].State != commit.Unknown || list[3].State != commit.Known {
			t.Fatalf("%+v", list)
		}
	}
	if n := c.asked.Load(); n != 5 || p.Missing() != 1 {
		t.Errorf("asked %d times, %d missing", n, p.Missing())
	}
	p.forget()
	c.lost = nil
	list := commits(5)
	if err := p.Fill(t.Context(), c, list); err != nil || list[2].State != commit.Known {
		t.Errorf("after the object came: %v, %+v", err, list[2])
	}
}

func TestAFailureIsNotTakenForMissing(t *testing.T) {
	p := newProject(20, slog.New(slog.DiscardHandler))
	if err := p.Fill(t.Context(), &counter{fail: errors.New("no git")}, commits(5)); err == nil || p.Missing() != 0 {
		t.Errorf("%v, %d missing", err, p.Missing())
	}
}
