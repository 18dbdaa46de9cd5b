// Package jobs is the one place where work is shared and its results are kept.
//
// A job makes an answer that many callers read while it is being made: a list of hashes, a page of commits, a report, a
// form of it. The maker writes to a file without a name; every caller reads at his own pace, so a slow one holds up no
// other and memory stays flat. Finished answers are kept until their room is needed, all within one limit. What a full
// disk does not take stays in memory, within a limit.
//
// Small values that must outlive the process, such as line counts, are in one file of keys and values (table.go).
package jobs

import (
	"container/list"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"go.etcd.io/bbolt"

	"ctl.internal/internal/together"
)

// Producer makes an answer. Two producers under one key write the same bytes.
// result is handed to every caller; keep says whether the answer may be used
// again later.
type Producer func(ctx context.Context, w io.Writer) (result any, keep bool, err error)

// Store has the answers being made, those that are kept, and the file of values.
type Store struct {
	log    *slog.Logger
	table  *bbolt.DB // nil = the file cannot be used, no value is kept
	flush  []func()  // called when no job runs any more, before the file of values is closed
	dir    string    // of the answers
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

// entry is one answer. Its maker writes, its readers wait for more. Store.mu protects what follows it.
type entry struct {
	key    string
	share  any
	cache  *Store
	cancel context.CancelFunc
	file   *os.File // nil when it could not be made

	users   int
	place   *list.Element   // in Store.kept; nil: it is not kept
	changed together.Signal // of what follows
	onDisk  int64           // bytes in the file
	tail    []byte          // what the file did not take
	done    bool
	result  any
	err     error
}

func (e *entry) size() int64 {
	return e.onDisk + int64(len(e.tail))
}

// maxKept bounds open files, whatever their size.
const maxKept = 512

// Open makes a store whose files lie below dir; it keeps at most limit bytes of finished answers.
func Open(dir string, limit int64, log *slog.Logger) *Store {
	c := &Store{
		log:     log,
		table:   openTable(filepath.Join(dir, "counts"), log),
		dir:     filepath.Join(dir, "answers"),
		limit:   limit,
		entries: map[string]*entry{},
		kept:    list.New(),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Close ends all making and closes all files. Handles must be closed by
// their callers.
func (c *Store) Close() {
	c.cancel()
	c.makers.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.kept.Len() > 0 {
		c.drop(c.kept.Back().Value.(*entry))
	}
	for _, flush := range c.flush {
		flush()
	}
	c.closeTable()
}

// BeforeClose makes Close call a function that writes values, when no job runs any more.
func (c *Store) BeforeClose(flush func()) {
	c.flush = append(c.flush, flush)
}

// create makes a file that lives as long as it is open.
func (c *Store) create() (*os.File, error) {
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
func (c *Store) Get(key string, share any, p Producer) *Handle {
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

func (c *Store) start(key string, share any, p Producer) *entry {
	ctx, cancel := context.WithCancel(c.ctx)
	e := &entry{
		key:    key,
		share:  share,
		cache:  c,
		cancel: cancel,
	}
	c.entries[key] = e
	c.makers.Go(func() {
		defer cancel()
		e.file, _ = c.create() // without a file it stays in memory
		var result any
		keep := false
		err := safely(func() (err error) {
			result, keep, err = p(ctx, e)
			return err
		})
		c.made(e, result, keep, err)
	})
	return e
}

// safely turns a panic into an error: a producer runs in a goroutine of its own, where one would end the whole
// plugin, and bbolt has panics for damaged pages. Faults of a mapped file that is shorter than its pages say are
// errors too.
func safely(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return do()
}

// made ends the making: it keeps the answer, or drops it.
func (c *Store) made(e *entry, result any, keep bool, err error) {
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
func (c *Store) drop(e *entry) {
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
func (c *Store) release(e *entry) {
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

func (c *Store) leave(e *entry) {
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
