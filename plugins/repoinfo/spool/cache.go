package spool

import (
	"container/list"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
)

// Producer makes an answer. Two producers under one key write the same bytes.
// result is handed to every caller; keep says whether the answer may be used
// again later.
type Producer func(ctx context.Context, w io.Writer) (result any, keep bool, err error)

// file is what a Cache needs of an *os.File.
type file interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// Cache is the answers being made and those that are kept.
type Cache struct {
	limit  int64
	log    *slog.Logger
	create func() (file, error)
	ctx    context.Context
	cancel context.CancelFunc
	makers sync.WaitGroup

	mu      sync.Mutex
	entries map[string]*entry
	kept    *list.List // of *entry, the most recently used in front
	bytes   int64
}

// maxKept bounds open files, whatever their size.
const maxKept = 128

// New makes a cache whose files lie below dir; it keeps at most limit bytes of
// finished answers.
func New(dir string, limit int64, log *slog.Logger) *Cache {
	c := &Cache{limit: limit, log: log, entries: map[string]*entry{}, kept: list.New()}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.create = func() (file, error) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		f, err := os.CreateTemp(dir, "answer-")
		if err != nil {
			return nil, err
		}
		if err := os.Remove(f.Name()); err != nil { // it lives as long as it is open, and no longer
			_ = f.Close()
			return nil, err
		}
		return f, nil
	}
	return c
}

// Close ends all making and lets go of all files. Handles must be closed by
// their callers.
func (c *Cache) Close() {
	c.cancel()
	c.makers.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.kept.Len() > 0 {
		c.drop(c.kept.Back().Value.(*entry))
	}
}

// Get joins the answer under key, or starts making it. The handle must be closed.
func (c *Cache) Get(key string, p Producer) *Handle {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		e = c.start(key, p)
	}
	e.users++
	if e.place != nil {
		c.kept.MoveToFront(e.place)
	}
	return &Handle{cache: c, entry: e, produce: p}
}

func (c *Cache) start(key string, p Producer) *entry {
	ctx, cancel := context.WithCancel(c.ctx)
	e := &entry{key: key, cancel: cancel, changed: make(chan struct{})}
	c.entries[key] = e
	f, err := c.create()
	if err != nil {
		c.log.Warn("an answer cannot be shared", "error", err)
		cancel()
		e.finish(nil, &brokenError{err})
		delete(c.entries, key)
		return e
	}
	e.file = f
	c.makers.Go(func() {
		defer cancel()
		result, keep, err := safely(ctx, p, e)
		if e.broken != nil {
			c.log.Warn("an answer cannot be shared", "error", e.broken)
			err = e.broken
		}
		c.made(e, keep && err == nil)
		e.finish(result, err)
	})
	return e
}

// safely turns a panic of a producer into an error: it runs in a goroutine of
// its own, where one would end the whole plugin.
func safely(ctx context.Context, p Producer, w io.Writer) (result any, keep bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return p(ctx, w)
}

// made keeps a finished answer, or lets go of it.
func (c *Cache) made(e *entry, keep bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !keep || e.size > c.limit || c.entries[e.key] != e {
		c.drop(e)
		return
	}
	e.place = c.kept.PushFront(e)
	c.bytes += e.size
	for c.bytes > c.limit || c.kept.Len() > maxKept {
		c.drop(c.kept.Back().Value.(*entry))
	}
}

// drop makes an entry unfindable, and closes its file when nobody reads it.
func (c *Cache) drop(e *entry) {
	if e.place != nil {
		c.kept.Remove(e.place)
		c.bytes -= e.size
		e.place = nil
	}
	if c.entries[e.key] == e {
		delete(c.entries, e.key)
	}
	e.dropped = true
	c.shut(e)
}

func (c *Cache) shut(e *entry) {
	if e.dropped && e.users == 0 && e.file != nil {
		if err := e.file.Close(); err != nil {
			c.log.Warn("closing a shared answer failed", "error", err)
		}
		e.file = nil
	}
}

func (c *Cache) leave(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	if e.users == 0 && e.place == nil && !e.finished() {
		e.cancel() // nobody wants it any more
		if c.entries[e.key] == e {
			delete(c.entries, e.key) // and nobody joins what is ending
		}
	}
	c.shut(e)
}
