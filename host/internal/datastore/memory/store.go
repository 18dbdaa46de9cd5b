package memory

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/engine"
)

// The history that is kept for watches when Options do not say.
const (
	defaultHistory = 1024
	maxHistorySize = 32 << 20 // bytes; a flood of large writes keeps fewer transactions
)

// Options of a store.
type Options struct {
	History int // transactions kept for resuming watches; 0 = 1024
}

// Store is a datastore.Store in memory.
type Store struct {
	history int
	seed    seed
	sig     engine.Signal
	done    chan struct{}

	mu  sync.Mutex // one writer at a time
	now atomic.Pointer[state]
}

// state is one revision of the store; it never changes once it is published.
type state struct {
	rev     datastore.Revision
	root    *node
	log     []datastore.Batch
	logSize int
	closed  bool
}

var _ datastore.Store = (*Store)(nil)

// New makes an empty store.
func New(o Options) *Store {
	if o.History <= 0 {
		o.History = defaultHistory
	}
	s := &Store{history: o.History, seed: maphash.MakeSeed(), done: make(chan struct{})}
	s.now.Store(&state{})
	return s
}

// Revision is that of the newest committed transaction.
func (s *Store) Revision() datastore.Revision { return s.now.Load().rev }

// View runs f on the newest state.
func (s *Store) View(ctx context.Context, f func(datastore.Snapshot) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	st := s.now.Load()
	if st.closed {
		return datastore.ErrClosed
	}
	return f(st)
}

// Commit applies a transaction.
func (s *Store) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.now.Load()
	if old.closed {
		return 0, datastore.ErrClosed
	}
	b, err := engine.Resolve(view{old}, t, old.rev+1)
	if err != nil {
		return 0, err
	}
	if len(b.Events) == 0 {
		return old.rev, nil
	}
	s.now.Store(s.next(old, b))
	s.sig.Fire()
	return b.Revision, nil
}

func (s *Store) next(old *state, b datastore.Batch) *state {
	st := &state{rev: b.Revision, root: old.root, logSize: old.logSize + engine.Size(b)}
	for _, e := range b.Events {
		key := engine.Join(e.Namespace, e.Key)
		if e.Deleted {
			st.root = st.root.delete(key)
		} else {
			st.root = st.root.put(s.seed, key, e.Value, e.Revision)
		}
	}
	// Appending beyond the length that older states see does not disturb them.
	st.log = append(old.log, b)
	for len(st.log) > s.history || (len(st.log) > 1 && st.logSize > maxHistorySize) {
		st.logSize -= engine.Size(st.log[0])
		st.log = st.log[1:]
	}
	return st
}

// Watch follows the changes under the prefixes.
func (s *Store) Watch(ctx context.Context, after datastore.Revision, prefixes []datastore.Prefix, f func(datastore.Batch) error) error {
	return engine.Follow(ctx, s, &s.sig, s.done, after, prefixes, f)
}

// History implements engine.Source.
func (s *Store) History(after datastore.Revision) ([]datastore.Batch, error) {
	st := s.now.Load()
	if st.closed {
		return nil, datastore.ErrClosed
	}
	if after >= st.rev {
		return nil, nil
	}
	first := st.log[0].Revision
	if after+1 < first {
		return nil, datastore.ErrCompacted
	}
	return st.log[after+1-first:], nil
}

// Close ends watches and refuses everything from now on.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.Load().closed {
		return nil
	}
	s.now.Store(&state{rev: s.now.Load().rev, closed: true})
	close(s.done)
	return nil
}

// Local is View: everything is here.
func (s *Store) Local(f func(datastore.Snapshot) error) (time.Duration, error) {
	return 0, s.View(context.Background(), f)
}

// Barrier is Revision: everything is here.
func (s *Store) Barrier(ctx context.Context) (datastore.Revision, error) {
	return s.Revision(), ctx.Err()
}
