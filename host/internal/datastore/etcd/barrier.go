package etcd

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// rounds are the questions for the newest commit: one at a time, shared by all who asked
// before it began.
type rounds struct {
	roundMu sync.Mutex
	running bool
	next    *round
	lost    atomic.Bool // the last one failed
}

type round struct {
	done chan struct{}
	err  error
}

// Barrier asks the cluster for the newest commit and waits until the projection has it.
func (s *Store) Barrier(ctx context.Context) (datastore.Revision, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r, err := s.join()
	if err != nil {
		return 0, err
	}
	limit := s.o.whole()
	if s.lost.Load() { // whoever asks several times is not to wait that long each time
		limit /= 4
	}
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-r.done:
		return s.Revision(), r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-late.C:
		return 0, fault.New(fault.Unavailable, "the etcd cluster %v does not answer", s.o.Endpoints)
	}
}

// join returns the next round and sees to it that it is run.
func (s *Store) join() (*round, error) {
	s.roundMu.Lock()
	defer s.roundMu.Unlock()
	if err := s.Err(); err != nil {
		return nil, err
	}
	if s.next == nil {
		s.next = &round{done: make(chan struct{})}
	}
	r := s.next
	if !s.running {
		s.running = true
		s.owned.Go(s.run)
	}
	return r, nil
}

func (s *Store) run() {
	for {
		s.roundMu.Lock()
		r := s.next
		s.next, s.running = nil, r != nil
		s.roundMu.Unlock()
		if r == nil {
			return
		}
		r.err = s.ask()
		s.lost.Store(r.err != nil)
		close(r.done)
	}
}

func (s *Store) ask() error {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(s.ctx, s.o.whole())
	defer cancel()
	var newest int64
	err := s.call(ctx, func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Get(ctx, s.o.Prefix+headKey, clientv3.WithKeysOnly())
		if err == nil && len(r.Kvs) > 0 {
			newest = r.Kvs[0].ModRevision
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.reach(ctx, newest); err != nil {
		return err
	}
	s.asOf.Store(begun.UnixNano())
	return nil
}

// reach waits until the projection has a revision. One that does not come has a watch that
// is stuck: it is opened again at the next member.
func (s *Store) reach(ctx context.Context, rev int64) error {
	wait, cancel := context.WithTimeout(ctx, s.o.stall())
	defer cancel()
	err := s.Wait(wait, s.revision(rev))
	if err == nil || errors.Is(err, datastore.ErrClosed) || s.ctx.Err() != nil {
		return err
	}
	if wait.Err() != nil && ctx.Err() == nil {
		_, at, _ := s.members.current()
		s.members.next(at)
		s.reopen()
		err = s.Wait(ctx, s.revision(rev))
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "revision %d of the etcd cluster %v has not arrived here yet", rev, s.o.Endpoints)
	}
	return nil
}
