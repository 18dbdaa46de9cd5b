// Package storetest is a datastore in memory for the tests of other rooms.
package storetest

import (
	"context"
	"sync"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
)

// Options of a store.
type Options struct {
	History int // transactions kept for resuming watches; 0 = 4096
	Keys    int // one transaction may write; 0 = any number
}

// Store is a datastore.Store in memory.
type Store struct {
	mu   sync.Mutex // one writer at a time
	keys int
	*projection.Projection
}

var _ datastore.Store = (*Store)(nil)

// New makes an empty store.
func New(o Options) *Store {
	return &Store{
		keys:       o.Keys,
		Projection: projection.New(projection.Empty(o.History)),
	}
}

// Commit applies a transaction.
func (s *Store) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := projection.NoLeases(t); err != nil {
		return 0, err
	}
	if s.keys > 0 && len(t.Ops) > s.keys {
		return 0, datastore.ErrTooBig
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.Err(); err != nil {
		return 0, err
	}
	st := s.State()
	b, err := st.Resolve(t, st.Revision()+1, time.Now())
	if err != nil {
		return 0, err
	}
	if len(b.Events) == 0 {
		return st.Revision(), nil
	}
	s.Publish(st.Apply(b))
	return b.Revision, nil
}

// Close ends watches and refuses everything from now on.
func (s *Store) Close() error {
	s.mu.Lock() // a commit in progress is not seen after Close
	defer s.mu.Unlock()
	s.Projection.Close()
	return nil
}
