package etcd

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/sdk/fault"
)

// Grant makes a lease. The cluster counts whole seconds and has a smallest time of its own.
func (s *Store) Grant(ctx context.Context, ttl time.Duration) (lease int64, err error) {
	err = s.call(ctx, func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Grant(ctx, int64((ttl+time.Second-1)/time.Second))
		if err == nil {
			lease = int64(r.ID)
		}
		return err
	})
	return lease, err
}

// Renew returns how long the lease lives from the call on.
func (s *Store) Renew(ctx context.Context, lease int64) (ttl time.Duration, err error) {
	err = s.call(ctx, func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.KeepAliveOnce(ctx, clientv3.LeaseID(lease))
		if err == nil {
			ttl = time.Duration(r.TTL) * time.Second
		}
		return err
	})
	return ttl, err
}

// Revoke ends the lease; one that has ended is no error.
func (s *Store) Revoke(ctx context.Context, lease int64) error {
	err := s.call(ctx, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.Revoke(ctx, clientv3.LeaseID(lease))
		return err
	})
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}
