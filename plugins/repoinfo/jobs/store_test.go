package jobs

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"ctl.internal/sdk/fault"
)

func cache(t *testing.T, limit int64) *Store {
	t.Helper()
	c := Open(t.TempDir(), limit, slog.New(slog.DiscardHandler))
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
			h := c.Get("k", nil, lines(5000, runs))
			defer h.Close()
			var got bytes.Buffer
			if err := h.Copy(t.Context(), &got, 0, nothing); err != nil || got.String() != text(5000) {
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
	a, b := c.Get("k", nil, p), c.Get("k", nil, p)
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
	h := c.Get("k", nil, func(context.Context, io.Writer) (any, bool, error) { return nil, true, bad })
	defer h.Close()
	if _, err := h.Ready(t.Context(), false); !errors.Is(err, bad) {
		t.Error(err)
	}
	runs := &atomic.Int64{}
	again := c.Get("k2", nil, lines(1, runs))
	defer again.Close()
	if n, err := again.Ready(t.Context(), true); err != nil || n != 1 {
		t.Errorf("%v, %v", n, err)
	}
}

func TestAPanicIsAnError(t *testing.T) {
	c := cache(t, 1<<20)
	h := c.Get("k", nil, func(context.Context, io.Writer) (any, bool, error) { panic("oops") })
	defer h.Close()
	if _, err := h.Ready(t.Context(), false); err == nil || !strings.Contains(err.Error(), "oops") {
		t.Error(err)
	}
}

func TestKeptAnswersMakeRoom(t *testing.T) {
	c, runs := cache(t, int64(len(text(100)))*2), &atomic.Int64{}
	read := func(key string) {
		h := c.Get(key, nil, lines(100, runs))
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
		h := c.Get("k.gz", nil, c.Gzip("k", nil, lines(3000, runs)))
		var packed bytes.Buffer
		if err := h.Copy(t.Context(), &packed, 0, nothing); err != nil {
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

func TestFullDiskHarmsNoAnswer(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the device /dev/full (the peer of this test) is not on this system")
	}
	for name, damage := range map[string]func(*Store, *entry){
		"no file":     func(_ *Store, e *entry) { e.file = nil },
		"full":        func(_ *Store, e *entry) { e.file = full },
		"half-way on": func(_ *Store, e *entry) { e.file = sealable(t) },
	} {
		c, runs := cache(t, 1<<20), &atomic.Int64{}
		h := c.Get("k", nil, func(ctx context.Context, w io.Writer) (any, bool, error) {
			damage(c, w.(*entry))
			if name == "half-way on" {
				if _, err := io.WriteString(w, text(100)); err != nil {
					return nil, false, err
				}
				if _, err := unix.FcntlInt(w.(*entry).file.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_GROW); err != nil {
					return nil, false, err
				}
				_, err := io.WriteString(w, strings.TrimPrefix(text(5000), text(100)))
				return 5000, true, err
			}
			return lines(5000, runs)(ctx, w)
		})
		var got bytes.Buffer
		if err := h.Copy(t.Context(), &got, 0, nothing); err != nil || got.String() != text(5000) {
			t.Errorf("%s: %d bytes, %v", name, got.Len(), err)
		}
		if n, err := h.Ready(t.Context(), true); err != nil || n != 5000 || h.Kept() {
			t.Errorf("%s: result %v, %v, kept %v", name, n, err, h.Kept())
		}
		h.Close()
		if c.memory != 0 {
			t.Errorf("%s: %d bytes stay in memory", name, c.memory)
		}
	}
}

// sealable is a file that can be kept from growing.
func sealable(t *testing.T) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("answer", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer, a system with memfd, is not here")
	}
	return os.NewFile(uintptr(fd), "answer")
}

func TestMemoryIsBoundedWithoutADisk(t *testing.T) {
	c := cache(t, 1<<20)
	c.dir = "/dev/null/none"
	h := c.Get("k", nil, func(ctx context.Context, w io.Writer) (any, bool, error) {
		for block := make([]byte, 1<<20); ; {
			if _, err := w.Write(block); err != nil {
				return nil, false, err
			}
		}
	})
	defer h.Close()
	if _, err := h.Ready(t.Context(), true); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), c.dir) {
		t.Errorf("%v", err)
	}
}

func TestCopyFromAnOffset(t *testing.T) {
	c := cache(t, 1<<20)
	h := c.Get("k", nil, lines(3, &atomic.Int64{}))
	defer h.Close()
	var got bytes.Buffer
	if err := h.Copy(t.Context(), &got, int64(len(text(2))), nothing); err != nil || got.String() != "line 2 of the answer\n" {
		t.Errorf("%q %v", got.String(), err)
	}
}
