package engine

import (
	"context"
	"sync"

	"ctl.internal/host/internal/datastore"
)

// Source is a store's kept history, as a watch reads it.
type Source interface {
	Revision() datastore.Revision
	// History returns batches after a revision, oldest first and as many as is
	// convenient; none when there is nothing newer, ErrCompacted when there is a gap.
	History(after datastore.Revision) ([]datastore.Batch, error)
}

// Follow is the loop of Store.Watch. done ends it with ErrClosed.
func Follow(ctx context.Context, src Source, sig *Signal, done <-chan struct{},
	after datastore.Revision, prefixes []datastore.Prefix, f func(datastore.Batch) error) error {
	for _, p := range prefixes {
		if err := CheckKey(p.Namespace, p.Key, true); err != nil {
			return err
		}
	}
	if after == 0 {
		after = src.Revision()
	}
	delivered := after
	for {
		changed := sig.Wait() // before the read, so that no change is missed
		if err := ctx.Err(); err != nil {
			return err
		}
		batches, err := src.History(after)
		if err != nil {
			return err
		}
		for _, b := range batches {
			after = b.Revision
			if mine, ok := Filter(b, prefixes); ok {
				delivered = b.Revision
				if err := f(mine); err != nil {
					return err
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if len(batches) > 0 {
			continue
		}
		if delivered < after { // nothing newer is known: what was left out concerns nobody here
			delivered = after
			if err := f(datastore.Batch{Revision: after}); err != nil {
				return err
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-done:
			return datastore.ErrClosed
		}
	}
}

// Signal wakes everyone who waits for the next change. The zero value is ready.
type Signal struct {
	mu sync.Mutex
	ch chan struct{}
}

// Wait returns a channel that the next Fire closes.
func (s *Signal) Wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

// Fire wakes all who wait.
func (s *Signal) Fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}
