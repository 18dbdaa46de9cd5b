package etcd

import (
	"context"
	"errors"
	"io"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/sdk/fault"
)

// Grant makes a lease. The cluster counts whole seconds and has a smallest time of its own.
// One that was made twice, because the first member was silent, runs out.
func (s *Store) Grant(ctx context.Context, ttl time.Duration) (lease int64, err error) {
	return askMembers(ctx, s, func(ctx context.Context, c *clientv3.Client) (int64, error) {
		r, err := c.Grant(ctx, int64((ttl+time.Second-1)/time.Second))
		if err != nil {
			return 0, err
		}
		return int64(r.ID), nil
	})
}

// Renew returns how long the lease lives from the call on.
func (s *Store) Renew(ctx context.Context, lease int64) (ttl time.Duration, err error) {
	return askMembers(ctx, s, func(ctx context.Context, c *clientv3.Client) (time.Duration, error) {
		return renewLease(ctx, c, lease)
	})
}

// renewLease is clientv3's KeepAliveOnce, which repeats without a pause while the member is away.
func renewLease(ctx context.Context, c *clientv3.Client, lease int64) (time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := pb.NewLeaseClient(c.ActiveConnection()).LeaseKeepAlive(clientv3.WithRequireLeader(ctx))
	if err != nil {
		return 0, rpctypes.Error(err)
	}
	if err := stream.Send(&pb.LeaseKeepAliveRequest{ID: lease}); err != nil &&
		!errors.Is(err, io.EOF) {
		return 0, rpctypes.Error(err)
	}
	r, err := stream.Recv() // after io.EOF it has the error
	if err != nil {
		return 0, rpctypes.Error(err)
	}
	if r.TTL <= 0 {
		return 0, rpctypes.ErrLeaseNotFound
	}
	return time.Duration(r.TTL) * time.Second, nil
}

// Revoke ends the lease; one that has ended is no error.
func (s *Store) Revoke(ctx context.Context, lease int64) error {
	_, err := askMembers(ctx, s, func(ctx context.Context, c *clientv3.Client) (*clientv3.LeaseRevokeResponse, error) {
		return c.Revoke(ctx, clientv3.LeaseID(lease))
	})
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}
