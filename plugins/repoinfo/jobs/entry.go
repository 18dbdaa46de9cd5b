package jobs

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"ctl.internal/sdk/fault"
)

// memoryLimit bounds what full disks leave in memory, of all answers together.
const memoryLimit = 64 << 20

// Write implements io.Writer for the maker.
func (e *entry) Write(p []byte) (n int, err error) {
	if e.file != nil && len(e.tail) == 0 { // both are the maker's until it is done
		n, err = e.file.WriteAt(p, e.onDisk)
	}
	rest := p[n:]
	c := e.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.memory+int64(len(rest)) > memoryLimit {
		return 0, fault.New(fault.Unavailable, "the answer cannot be kept in %s: %v", c.dir, err)
	}
	c.memory += int64(len(rest))
	e.onDisk += int64(n)
	e.tail = append(e.tail, rest...)
	e.changed.Fire()
	return len(p), nil
}

// readAt fills b from the answer, which has that much.
func (e *entry) readAt(b []byte, at int64) error {
	e.cache.mu.Lock()
	onDisk, tail := e.onDisk, e.tail
	e.cache.mu.Unlock()
	if at < onDisk {
		n := min(int64(len(b)), onDisk-at)
		if got, err := e.file.ReadAt(b[:n], at); int64(got) < n {
			return errors.Join(errors.New("a shared answer could not be read back"), err)
		}
		b, at = b[n:], at+n
	}
	if len(b) > 0 {
		copy(b, tail[at-onDisk:])
	}
	return nil
}

// wait returns when there is more than from, or the end is known.
func (e *entry) wait(ctx context.Context, from int64, end bool) (size int64, done bool, err error) {
	for {
		e.cache.mu.Lock()
		size, done, err = e.size(), e.done, e.err
		changed := e.changed.Wait()
		e.cache.mu.Unlock()
		if done || (!end && size > from) {
			return size, done, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return size, false, ctx.Err()
		}
	}
}

// Handle is one caller's share of an answer.
type Handle struct {
	entry *entry
	once  sync.Once
}

const blockSize = 64 << 10

var blocks = sync.Pool{New: func() any { b := make([]byte, blockSize); return &b }}

// Close leaves the answer. When its last reader leaves, its making ends.
func (h *Handle) Close() {
	h.once.Do(func() { h.entry.cache.leave(h.entry) })
}

// Share is what the caller who started the answer gave to Get.
func (h *Handle) Share() any { return h.entry.share }

// Ready waits for the first bytes, or for the end when whole is set, and
// returns the producer's error when it failed before. The result is known only
// with whole.
func (h *Handle) Ready(ctx context.Context, whole bool) (result any, err error) {
	_, done, err := h.entry.wait(ctx, 0, whole)
	if done {
		result = h.entry.result
	}
	return result, err
}

// Copy writes the answer from an offset on to w. flush is called after the first block
// and whenever the maker is slower than the reader.
func (h *Handle) Copy(ctx context.Context, w io.Writer, at int64, flush func()) error {
	block := blocks.Get().(*[]byte)
	defer blocks.Put(block)
	for {
		size, done, err := h.entry.wait(ctx, at, false)
		if err != nil {
			return err
		}
		for at < size {
			n := min(int64(len(*block)), size-at)
			if err := h.entry.readAt((*block)[:n], at); err != nil {
				return err
			}
			if _, err := w.Write((*block)[:n]); err != nil {
				return err
			}
			at += n
		}
		if done {
			return nil
		}
		flush()
	}
}

// Kept reports whether the finished answer will serve later callers too.
func (h *Handle) Kept() bool {
	h.entry.cache.mu.Lock()
	defer h.entry.cache.mu.Unlock()
	return h.entry.place != nil
}

// flushPause is how long packed bytes may be held back: each flush makes the
// answer longer and costs as much as packing does.
const flushPause = 200 * time.Millisecond

// Gzip is the producer of the compressed form of another answer.
func (c *Store) Gzip(key string, share any, p Producer) Producer {
	return func(ctx context.Context, w io.Writer) (any, bool, error) {
		plain := c.Get(key, share, p)
		defer plain.Close()
		buf := bufio.NewWriterSize(w, blockSize) // gzip writes a few bytes at a time, and each write would wake every reader
		z, err := gzip.NewWriterLevel(buf, gzip.BestSpeed)
		if err != nil {
			return nil, false, err
		}
		var flushErr error
		var flushed time.Time
		err = plain.Copy(ctx, z, 0, func() {
			if time.Since(flushed) < flushPause {
				return
			}
			flushed = time.Now()
			if err := errors.Join(z.Flush(), buf.Flush()); err != nil {
				flushErr = err
			}
		})
		if err = errors.Join(err, flushErr); err != nil {
			return nil, false, err
		}
		if err := errors.Join(z.Close(), buf.Flush()); err != nil {
			return nil, false, err
		}
		result, err := plain.Ready(ctx, true)
		return result, plain.Kept(), err
	}
}
