package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/engine"
)

// Watch follows the changes under a namespace and prefix. It survives the loss
// of a cluster member; when the cluster has lost its leader it waits.
func (s *Store) Watch(ctx context.Context, ns, prefix string, after datastore.Revision, f func(datastore.Batch) error) error {
	if err := engine.CheckKey(ns, prefix, true); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed() {
		return datastore.ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	opts := []clientv3.OpOption{clientv3.WithPrefix()}
	if after > 0 {
		opts = append(opts, clientv3.WithRev(int64(after)+1))
	}
	for r := range s.client.Watch(ctx, s.key(ns, prefix), opts...) {
		if r.CompactRevision > 0 {
			return datastore.ErrCompacted
		}
		if err := r.Err(); err != nil {
			return s.watchError(ctx, err)
		}
		for _, b := range s.batches(ns, r.Events) {
			s.saw(int64(b.Revision))
			if err := f(b); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return s.watchError(ctx, datastore.ErrClosed)
}

func (s *Store) watchError(ctx context.Context, err error) error {
	if s.closed() {
		return datastore.ErrClosed
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.translate(err)
}

// batches groups the events of a response by transaction.
func (s *Store) batches(ns string, events []*clientv3.Event) []datastore.Batch {
	var out []datastore.Batch
	for _, e := range events {
		rev := datastore.Revision(e.Kv.ModRevision)
		if len(out) == 0 || out[len(out)-1].Revision != rev {
			out = append(out, datastore.Batch{Revision: rev})
		}
		entry := s.entry(ns, e.Kv)
		if e.Type == clientv3.EventTypeDelete {
			entry.Value = nil
		}
		last := &out[len(out)-1]
		last.Events = append(last.Events, datastore.Event{Namespace: ns, Entry: entry, Deleted: e.Type == clientv3.EventTypeDelete})
	}
	return out
}
