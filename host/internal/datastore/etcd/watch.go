package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
)

// watchPreferred follows the cluster at the preferred member until it ends there. clientv3's Watch
// opens a lost stream again by itself and waits for the same member however long that is
// silent; this one ends with its stream.
func (s *Store) watchPreferred() error {
	m := s.members.preferred.Load()
	err := s.watchAt(m)
	if err != nil &&
		!errors.Is(err, errPast) &&
		!errors.Is(err, datastore.ErrCompacted) &&
		s.ctx.Err() == nil {
		s.preferOther(m)
		return fmt.Errorf("at %s: %w", m.endpoint, err)
	}
	return err
}

func (s *Store) watchAt(m *member) error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	late := time.AfterFunc(s.o.stallTimeout(), cancel) // until it is open
	stream, responses, err := s.openWatch(ctx, m)
	if err == nil && !late.Stop() {
		err = context.Canceled
	}
	switch {
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case ctx.Err() != nil:
		return fmt.Errorf("the watch was not opened within %v", s.o.stallTimeout())
	case err != nil:
		return err
	}
	return s.followStream(ctx, m, stream, responses)
}

// received is what a stream brought.
type received struct {
	response *pb.WatchResponse
	err      error
}

// openWatch opens the stream and looks that the member has the past of the projection.
func (s *Store) openWatch(
	ctx context.Context,
	m *member,
) (pb.Watch_WatchClient, <-chan received, error) {
	c, err := s.connectMember(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	stream, err := pb.NewWatchClient(c.ActiveConnection()).Watch(clientv3.WithRequireLeader(ctx))
	if err != nil {
		return nil, nil, rpctypes.Error(err)
	}
	responses := make(chan received)
	s.owned.Go(func() { // ends with the stream, which ends with ctx
		for {
			r, err := stream.Recv()
			select {
			case responses <- received{r, rpctypes.Error(err)}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	})
	create := &pb.WatchCreateRequest{
		Key:            []byte(s.o.Prefix),
		RangeEnd:       []byte(clientv3.GetPrefixRangeEnd(s.o.Prefix)),
		StartRevision:  s.clusterRevision(s.Revision()) + 1,
		ProgressNotify: true,
	}
	if err := stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: create}}); err != nil {
		return nil, nil, rpctypes.Error(err)
	}
	select {
	case r := <-responses:
		if err := watchFault(r); err != nil {
			return nil, nil, err
		}
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	return stream, responses, s.samePast(ctx, c)
}

// followStream applies what an open watch brings. A member that brings nothing is asked for
// a sign of life, and left when it gives none.
func (s *Store) followStream(
	ctx context.Context,
	m *member,
	stream pb.Watch_WatchClient,
	responses <-chan received,
) error {
	last := time.Now()
	look := time.NewTicker(s.o.quietTime())
	defer look.Stop()
	progress := &pb.WatchRequest{RequestUnion: &pb.WatchRequest_ProgressRequest{ProgressRequest: &pb.WatchProgressRequest{}}}
	for {
		select {
		case r := <-responses:
			if err := watchFault(r); err != nil {
				return err
			}
			last = time.Now()
			if err := s.applyEvents(r.response.Events); err != nil {
				return err
			}
		case <-look.C:
			switch silent := time.Since(last); {
			case silent > s.o.tryTimeout():
				return fmt.Errorf("nothing was heard for %v", silent.Round(time.Millisecond))
			case silent > s.o.quietTime():
				if err := stream.Send(progress); err != nil {
					return rpctypes.Error(err)
				}
			}
		case <-s.stuck:
			switch {
			case s.stale.Load():
				return errPast
			case s.members.preferred.Load() != m:
				return errors.New("another member answers sooner")
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watchFault is the error of a response.
func watchFault(r received) error {
	switch {
	case r.err != nil:
		return fmt.Errorf("the watch ended: %w", r.err)
	case r.response.CompactRevision > 0:
		return datastore.ErrCompacted
	case r.response.Canceled:
		return fmt.Errorf("the watch was ended by the member: %s", r.response.CancelReason)
	}
	return nil
}
