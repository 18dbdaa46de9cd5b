package spool

import (
	"container/list"
	"context"
	"sync"
)

// entry is one answer. Its maker writes, its readers wait for more.
type entry struct {
	key    string
	cancel context.CancelFunc
	file   file
	broken error // of the maker's goroutine: why the file takes no more

	users   int // guarded by Cache.mu, as the two below
	place   *list.Element
	dropped bool

	mu      sync.Mutex
	changed chan struct{} // closed when size or done change
	size    int64
	done    bool
	result  any
	err     error
}

// brokenError is the failing of the file, not of the maker.
type brokenError struct{ cause error }

func (e *brokenError) Error() string {
	return "the answer could not be kept on disk: " + e.cause.Error()
}
func (e *brokenError) Unwrap() error { return e.cause }

// Write implements io.Writer for the maker.
func (e *entry) Write(p []byte) (int, error) {
	n, err := e.file.Write(p)
	if err != nil {
		e.broken = &brokenError{err}
		return n, e.broken
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.size += int64(n)
	e.wake()
	return n, nil
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
