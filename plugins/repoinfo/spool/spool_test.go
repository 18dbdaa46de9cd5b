package spool

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

func cache(t *testing.T, limit int64) *Cache {
	t.Helper()
	c := New(t.TempDir(), limit, slog.New(slog.DiscardHandler))
	t.Cleanup(c.Close)
	return c
}

func nothing() {}

// lines produces n lines and counts its runs.
func lines(n int, runs *atomic.Int64) Producer {
	return func(ctx context.Context, w io.Writer) (any, bool, error) {
		runs.Add(1)
		for i := range n {
			if _, err := fmt.Fprintf(w, "line %d of the answer\n", i); err != nil {
				return nil, false, err
			}
		}
		return n, true, nil
	}
}

func text(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of the answer\n", i)
	}
	return b.String()
}

func TestManyReadersOneMaker(t *testing.T) {
	c, runs := cache(t, 1<<20), &atomic.Int64{}
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			h := c.Get("k", lines(5000, runs))
			defer h.Close()
			var got bytes.Buffer
			if err := h.Copy(t.Context(), &got, nothing); err != nil || got.String() != text(5000) {
				t.Errorf("%d bytes, %v", got.Len(), err)
			}
		})
	}
	all.Wait()
	if n := runs.Load(); n != 1 {
		t.Errorf("made %d times", n)
	}
}

func TestTheMakingEndsWithItsLastReader(t *testing.T) {
	c := cache(t, 1<<20)
	began, ended := make(chan struct{}), make(chan error, 1)
	p := func(ctx context.Context, w io.Writer) (any, bool, error) {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, true, ctx.Err()
	}
	a, b := c.Get("k", p), c.Get("k", p)
	<-began
	a.Close()
	select {
	case <-ended:
		t.Fatal("ended while somebody reads")
	default:
	}
	b.Close()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestErrorBeforeTheFirstByte(t *testing.T) {
	c := cache(t, 1<<20)
	bad := errors.New("no such thing")
	h := c.Get("k", func(context.Context, io.Writer) (any, bool, error) { return nil, true, bad })
	defer h.Close()
	if _, err := h.Ready(t.Context(), false); !errors.Is(err, bad) {
		t.Error(err)
	}
	runs := &atomic.Int64{}
	again := c.Get("k2", lines(1, runs))
	defer again.Close()
	if n, err := again.Ready(t.Context(), true); err != nil || n != 1 {
		t.Errorf("%v, %v", n, err)
	}
}

func TestAPanicIsAnError(t *testing.T) {
	c := cache(t, 1<<20)
	h := c.Get("k", func(context.Context, io.Writer) (any, bool, error) { panic("oops") })
	defer h.Close()
	if _, err := h.Ready(t.Context(), false); err == nil || !strings.Contains(err.Error(), "oops") {
		t.Error(err)
	}
}

func TestKeptAnswersMakeRoom(t *testing.T) {
	c, runs := cache(t, int64(len(text(100)))*2), &atomic.Int64{}
	read := func(key string) {
		h := c.Get(key, lines(100, runs))
		defer h.Close()
		if _, err := h.Ready(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"a", "b", "a", "c", "a", "b"} { // "b" must go for "c"
		read(key)
		c.makers.Wait()
	}
	if n := runs.Load(); n != 4 {
		t.Errorf("made %d times, want 4", n)
	}
}

func TestGzipSharesTheMaking(t *testing.T) {
	c, runs := cache(t, 1<<20), &atomic.Int64{}
	for range 3 {
		h := c.Get("k.gz", c.Gzip("k", lines(3000, runs)))
		var packed bytes.Buffer
		if err := h.Copy(t.Context(), &packed, nothing); err != nil {
			t.Fatal(err)
		}
		h.Close()
		z, err := gzip.NewReader(&packed)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || string(got) != text(3000) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	if n := runs.Load(); n != 1 {
		t.Errorf("made %d times", n)
	}
}

// fullDisk takes a number of bytes and then no more.
type fullDisk struct {
	mu   sync.Mutex
	data []byte
	room int
}

func (f *fullDisk) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.room -= len(p); f.room < 0 {
		return 0, syscall.ENOSPC
	}
	f.data = append(f.data, p...)
	return len(p), nil
}

func (f *fullDisk) ReadAt(p []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return copy(p, f.data[at:]), nil
}

func (f *fullDisk) Close() error { return nil }

func TestFullDiskHarmsNoAnswer(t *testing.T) {
	for _, room := range []int{0, 100, 50_000} {
		c, runs := cache(t, 1<<20), &atomic.Int64{}
		c.create = func() (file, error) { return &fullDisk{room: room}, nil }
		h := c.Get("k", lines(5000, runs))
		defer h.Close()
		if _, err := h.Ready(t.Context(), false); err != nil {
			t.Error(err)
		}
		var got bytes.Buffer
		if err := h.Copy(t.Context(), &got, nothing); err != nil || got.String() != text(5000) {
			t.Errorf("room %d: %d bytes, %v", room, got.Len(), err)
		}
		if n, err := h.Ready(t.Context(), true); err != nil || n != 5000 {
			t.Errorf("result %v, %v", n, err)
		}
	}
}

func TestAnAnswerThatComesOutDifferentlyIsNotGluedTogether(t *testing.T) {
	var sent bytes.Buffer
	rest := &tailWriter{w: &sent, skip: 6, want: crc32.ChecksumIEEE([]byte("run 1\n")), sum: crc32.NewIEEE()}
	if _, err := io.WriteString(rest, "run 2\nmore"); !errors.Is(err, ErrChanged) || sent.Len() != 0 {
		t.Errorf("%v, sent %q", err, sent.String())
	}
	rest = &tailWriter{w: &sent, skip: 6, want: crc32.ChecksumIEEE([]byte("run 1\n")), sum: crc32.NewIEEE()}
	if _, err := io.WriteString(rest, "run 1\nmore"); err != nil || sent.String() != "more" {
		t.Errorf("%v, sent %q", err, sent.String())
	}
}
