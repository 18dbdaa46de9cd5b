package spool

import (
	"context"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"sync"
)

// Handle is one caller's share of an answer.
type Handle struct {
	cache   *Cache
	entry   *entry
	produce Producer
	once    sync.Once
}

// ErrChanged says that an answer had to be made again half-way and came out
// differently; what was sent of it must not be used.
var ErrChanged = errors.New("the answer changed while it was sent")

const blockSize = 64 << 10

var blocks = sync.Pool{New: func() any { b := make([]byte, blockSize); return &b }}

// Close leaves the answer. When nobody is left, its making ends.
func (h *Handle) Close() { h.once.Do(func() { h.cache.leave(h.entry) }) }

// Ready waits for the first bytes, or for the end when whole is set, and
// returns the producer's error when it failed before. The result is known only
// with whole.
func (h *Handle) Ready(ctx context.Context, whole bool) (result any, err error) {
	_, done, err := h.entry.wait(ctx, 0, whole)
	if broken := (*brokenError)(nil); errors.As(err, &broken) {
		if !whole {
			return nil, nil // Copy makes it again
		}
		result, _, err = h.produce(ctx, io.Discard)
		return result, err
	}
	if done {
		result = h.entry.result
	}
	return result, err
}

// Copy writes the whole answer to w. flush is called after the first block and
// whenever the maker is slower than the reader.
func (h *Handle) Copy(ctx context.Context, w io.Writer, flush func()) error {
	block := blocks.Get().(*[]byte)
	defer blocks.Put(block)
	sum := crc32.NewIEEE()
	var at int64
	for {
		size, done, err := h.entry.wait(ctx, at, false)
		if broken := (*brokenError)(nil); errors.As(err, &broken) {
			return h.again(ctx, w, at, sum)
		}
		if err != nil {
			return err
		}
		for at < size {
			n := min(int64(len(*block)), size-at)
			got, err := h.entry.file.ReadAt((*block)[:n], at)
			if int64(got) < n {
				return errors.Join(errors.New("a shared answer could not be read back"), err)
			}
			if _, err := w.Write((*block)[:n]); err != nil {
				return err
			}
			_, _ = sum.Write((*block)[:n])
			at += n
		}
		if done {
			return nil
		}
		flush()
	}
}

// again makes the answer for this caller alone and sends what he lacks.
func (h *Handle) again(ctx context.Context, w io.Writer, sent int64, sum hash.Hash32) error {
	rest := &tailWriter{w: w, skip: sent, want: sum.Sum32(), sum: crc32.NewIEEE()}
	_, _, err := h.produce(ctx, rest)
	if err == nil && rest.skip > 0 {
		err = ErrChanged
	}
	return err
}

// tailWriter drops what was sent before, after making sure that it is the same.
type tailWriter struct {
	w    io.Writer
	skip int64
	want uint32
	sum  hash.Hash32
}

func (t *tailWriter) Write(p []byte) (int, error) {
	whole := len(p)
	if t.skip > 0 {
		n := min(t.skip, int64(len(p)))
		_, _ = t.sum.Write(p[:n])
		t.skip -= n
		p = p[n:]
		if t.skip == 0 && t.sum.Sum32() != t.want {
			return 0, ErrChanged
		}
	}
	if len(p) == 0 {
		return whole, nil
	}
	if _, err := t.w.Write(p); err != nil {
		return 0, err
	}
	return whole, nil
}

// Kept reports whether the finished answer will serve later callers too.
func (h *Handle) Kept() bool {
	h.cache.mu.Lock()
	defer h.cache.mu.Unlock()
	return h.entry.place != nil
}
