package spool

import (
	"context"
	"errors"

	"ctl.internal/sdk/fault"
)

// memoryLimit bounds what full disks leave in memory, of all answers together.
const memoryLimit = 64 << 20

// Write implements io.Writer for the maker.
func (e *entry) Write(p []byte) (n int, err error) {
	if e.file != nil && len(e.tail) == 0 {
		n, err = e.file.WriteAt(p, e.onDisk)
	}
	rest := p[n:]
	if len(rest) > 0 && !e.cache.room(int64(len(rest))) {
		return 0, fault.New(fault.Unavailable, "the answer cannot be stored in %s: %v", e.cache.dir, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.onDisk += int64(n)
	e.tail = append(e.tail, rest...)
	e.size += int64(len(p))
	e.wake()
	return len(p), nil
}

func (c *Cache) room(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.memory+n > memoryLimit {
		return false
	}
	c.memory += n
	return true
}

// readAt fills b from the answer, which has that much.
func (e *entry) readAt(b []byte, at int64) error {
	e.mu.Lock()
	onDisk, tail := e.onDisk, e.tail
	e.mu.Unlock()
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

func (e *entry) finish(result any, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done, e.result, e.err = true, result, err
	e.wake()
}

func (e *entry) wake() {
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *entry) finished() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.done
}

// wait returns when there is more than from, or the end is known.
func (e *entry) wait(ctx context.Context, from int64, end bool) (size int64, done bool, err error) {
	for {
		e.mu.Lock()
		size, done, err = e.size, e.done, e.err
		changed := e.changed
		e.mu.Unlock()
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
