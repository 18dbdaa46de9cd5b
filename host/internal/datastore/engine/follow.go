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
	ns, prefix string, after datastore.Revision, f func(datastore.Batch) error) error {
	if err := CheckKey(ns, prefix, true); err != nil {
		return err
	}
	if after == 0 {
		after = src.Revision()
	}
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
			if mine, ok := Filter(b, ns, prefix); ok {
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
