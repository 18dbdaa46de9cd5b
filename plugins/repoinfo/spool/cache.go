// Package spool lets many callers share one answer while it is being made. The maker
// writes to a file without a name; every caller reads at his own pace, so a slow one
// holds up no other and memory stays flat. Finished answers are kept until their room is
// needed. What a full disk does not take stays in memory, within a limit.
package spool

import (
	"container/list"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"ctl.internal/internal/together"
)

// Producer makes an answer. Two producers under one key write the same bytes.
// result is handed to every caller; keep says whether the answer may be used
// again later.
type Producer func(ctx context.Context, w io.Writer) (result any, keep bool, err error)

// Cache is the answers being made and those that are kept.
type Cache struct {
	dir    string
	limit  int64
	ctx    context.Context
	cancel context.CancelFunc
	makers sync.WaitGroup

	mu      sync.Mutex
	entries map[string]*entry
	kept    *list.List // of *entry, the most recently used in front
	bytes   int64
	memory  int64 // of all tails
}

// entry is one answer. Its maker writes, its readers wait for more. Cache.mu guards what follows it.
type entry struct {
	key    string
	share  any
	cache  *Cache
	cancel context.CancelFunc
	file   *os.File // nil when it could not be made

	users   int
	place   *list.Element   // in Cache.kept; nil: it is not kept
	changed together.Signal // of what follows
	onDisk  int64           // bytes in the file
	tail    []byte          // what the file did not take
	done    bool
	result  any
	err     error
}

func (e *entry) size() int64 { return e.onDisk + int64(len(e.tail)) }

// maxKept bounds open files, whatever their size.
const maxKept = 256

// New makes a cache whose files lie below dir; it keeps at most limit bytes of
// finished answers.
func New(dir string, limit int64) *Cache {
	c := &Cache{dir: dir, limit: limit, entries: map[string]*entry{}, kept: list.New()}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Close ends all making and closes all files. Handles must be closed by
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

// create makes a file that lives as long as it is open.
func (c *Cache) create() (*os.File, error) {
	err := os.MkdirAll(c.dir, 0o700)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(c.dir, "answer-"); err == nil {
			return f, os.Remove(f.Name())
		}
	}
	return nil, err
}

// Get joins the answer under key, or starts making it. share is what the caller who starts
// it has in common with those who join; see Handle.Share. The handle must be closed.
func (c *Cache) Get(key string, share any, p Producer) *Handle {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		e = c.start(key, share, p)
	}
	e.users++
	if e.place != nil {
		c.kept.MoveToFront(e.place)
	}
	return &Handle{entry: e}
}

func (c *Cache) start(key string, share any, p Producer) *entry {
	ctx, cancel := context.WithCancel(c.ctx)
	e := &entry{key: key, share: share, cache: c, cancel: cancel}
	c.entries[key] = e
	c.makers.Go(func() {
		defer cancel()
		e.file, _ = c.create() // without a file it stays in memory
		result, keep, err := safely(ctx, p, e)
		c.made(e, result, keep, err)
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

// made ends the making: it keeps the answer, or drops it.
func (c *Cache) made(e *entry, result any, keep bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.done, e.result, e.err = true, result, err
	e.changed.Fire()
	if !keep || err != nil || len(e.tail) > 0 || e.onDisk > c.limit || c.entries[e.key] != e {
		c.drop(e)
		return
	}
	e.place = c.kept.PushFront(e)
	c.bytes += e.onDisk
	for c.bytes > c.limit || c.kept.Len() > maxKept {
		c.drop(c.kept.Back().Value.(*entry))
	}
}

// drop makes an entry unfindable.
func (c *Cache) drop(e *entry) {
	if e.place != nil {
		c.kept.Remove(e.place)
		c.bytes -= e.onDisk
		e.place = nil
	}
	if c.entries[e.key] == e {
		delete(c.entries, e.key)
	}
	c.release(e)
}

// release frees what an entry holds once it is made, not kept, and has no readers.
func (c *Cache) release(e *entry) {
	if e.users > 0 || !e.done || e.place != nil {
		return
	}
	if e.file != nil {
		_ = e.file.Close() // it has no name: nothing of it is wanted any more
		e.file = nil
	}
	c.memory -= int64(len(e.tail))
	e.tail = nil
}

func (c *Cache) leave(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	if e.users == 0 && !e.done {
		e.cancel() // its last reader has gone
		if c.entries[e.key] == e {
			delete(c.entries, e.key) // no new reader may join an entry that is ending
		}
	}
	c.release(e)
}
