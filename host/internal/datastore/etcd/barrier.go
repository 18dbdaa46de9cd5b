package etcd

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
	"ctl.internal/sdk/fault"
)

// barriers are the questions for the newest commit: one at a time, shared by all who asked
// before it began.
type barriers struct {
	asks chan chan error // without a buffer: those who ask while a question is answered wait for the next
	lost atomic.Bool     // the last one failed
}

// Barrier asks the cluster for the newest commit and waits until the projection has it.
func (s *Store) Barrier(ctx context.Context) (datastore.Revision, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	limit := s.o.wholeTimeout()
	if s.lost.Load() { // whoever asks several times is not to wait that long each time
		limit /= 4
	}
	late := time.NewTimer(limit)
	defer late.Stop()
	answer := make(chan error, 1)
	for asks := s.asks; ; asks = nil { // once
		select {
		case asks <- answer:
		case err := <-answer:
			return s.Revision(), err
		case <-s.Done():
			return 0, datastore.ErrClosed
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-late.C:
			return 0, fault.New(
				fault.Unavailable,
				"the etcd cluster %v does not answer",
				s.o.Endpoints,
			)
		}
	}
}

// answerBarriers answers until the store is closed.
func (s *Store) answerBarriers() {
	for {
		var waiting []chan error
		select {
		case w := <-s.asks:
			waiting = projection.Together(w, s.asks, math.MaxInt)
		case <-s.ctx.Done():
			return
		}
		err := s.askNewest()
		s.lost.Store(err != nil)
		for _, w := range waiting {
			w <- err
		}
	}
}

func (s *Store) askNewest() error {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(s.ctx, s.o.wholeTimeout())
	defer cancel()
	known := *s.latest.Load() // before the question: the watch goes on meanwhile
	newest, err := s.newestMark(ctx)
	if err != nil {
		return err
	}
	if newest.canFollow(known) {
		err = s.reachRevision(ctx, newest.head)
	} else {
		err = s.readAgain(ctx)
	}
	if err == nil {
		s.asOf.Store(begun.UnixNano())
	}
	return err
}

// reachRevision waits until the projection has a revision. If it does not move, the watch is stuck
// and is opened again at the next member.
func (s *Store) reachRevision(ctx context.Context, rev int64) error {
	for {
		before := s.Revision()
		wait, cancel := context.WithTimeout(ctx, s.o.stallTimeout())
		err := s.Wait(wait, s.storeRevision(rev))
		late := wait.Err() != nil
		cancel()
		switch {
		case err == nil, errors.Is(err, datastore.ErrClosed), s.ctx.Err() != nil:
			return err
		case ctx.Err() != nil || !late:
			return fault.Wrap(
				fault.Unavailable,
				err,
				"revision %d of the etcd cluster %v has not arrived here yet",
				rev,
				s.o.Endpoints,
			)
		case s.Revision() == before:
			s.preferOther(s.members.preferred.Load())
			s.reopenWatch()
		}
	}
}
