package memory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
)

// Options of a store.
type Options struct {
	History int // transactions kept for resuming watches; 0 = 4096
}

// Store is a datastore.Store in memory.
type Store struct {
	mu sync.Mutex // one writer at a time
	p  *projection.Projection
}

var _ datastore.Store = (*Store)(nil)

// New makes an empty store.
func New(o Options) *Store {
	return &Store{p: projection.New(projection.Empty(o.History))}
}

// Revision is that of the newest committed transaction.
func (s *Store) Revision() datastore.Revision { return s.p.Revision() }

// View runs f on the newest state.
func (s *Store) View(ctx context.Context, f func(datastore.Snapshot) error) error {
	return s.p.View(ctx, f)
}

// Local is View: everything is here.
func (s *Store) Local(f func(datastore.Snapshot) error) (time.Duration, error) {
	return 0, s.p.View(context.Background(), f)
}

// Barrier is Revision: everything is here.
func (s *Store) Barrier(ctx context.Context) (datastore.Revision, error) {
	if err := s.p.Err(); err != nil {
		return 0, err
	}
	return s.Revision(), ctx.Err()
}

// Commit applies a transaction.
func (s *Store) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	for _, o := range t.Ops {
		if o.Lease != 0 {
			return 0, fmt.Errorf("%w: this engine has no leases", datastore.ErrInvalid)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.p.Err(); err != nil {
		return 0, err
	}
	st := s.p.State()
	b, err := st.Resolve(t, st.Revision()+1, time.Now())
	if err != nil {
		return 0, err
	}
	if len(b.Events) == 0 {
		return st.Revision(), nil
	}
	s.p.Publish(st.Apply(b))
	return b.Revision, nil
}

// Watch follows the changes under the prefixes.
func (s *Store) Watch(ctx context.Context, after datastore.Revision, prefixes []datastore.Prefix, f func(datastore.Batch) error) error {
	return s.p.Watch(ctx, after, prefixes, f)
}

// Close ends watches and refuses everything from now on.
func (s *Store) Close() error {
	s.mu.Lock() // a commit in progress is seen by nobody after Close
	defer s.mu.Unlock()
	s.p.Close()
	return nil
}
