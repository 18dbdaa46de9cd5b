package etcd

import (
	"context"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/engine"
)

// Watch follows the changes under a namespace and prefix. It survives the loss
// of a cluster member; when the cluster has lost its leader it waits.
func (s *Store) Watch(ctx context.Context, after datastore.Revision, prefixes []datastore.Prefix, f func(datastore.Batch) error) error {
	for _, p := range prefixes {
		if err := engine.CheckKey(p.Namespace, p.Key, true); err != nil {
			return err
		}
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
	for r := range s.client.Watch(ctx, s.o.Prefix, opts...) {
		if r.CompactRevision > 0 {
			return datastore.ErrCompacted
		}
		if err := r.Err(); err != nil {
			return s.watchError(ctx, err)
		}
		for _, b := range s.batches(r.Events) {
			s.saw(int64(b.Revision))
			b, ok := engine.Filter(b, prefixes)
			if !ok {
				b = datastore.Batch{Revision: b.Revision}
			}
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
func (s *Store) batches(events []*clientv3.Event) []datastore.Batch {
	var out []datastore.Batch
	for _, e := range events {
		rev := datastore.Revision(e.Kv.ModRevision)
		if len(out) == 0 || out[len(out)-1].Revision != rev {
			out = append(out, datastore.Batch{Revision: rev})
		}
		ns, _ := engine.Split(strings.TrimPrefix(string(e.Kv.Key), s.o.Prefix))
		entry := s.entry(ns, e.Kv)
		if e.Type == clientv3.EventTypeDelete {
			entry.Value = nil
		}
		last := &out[len(out)-1]
		last.Events = append(last.Events, datastore.Event{Namespace: ns, Entry: entry, Deleted: e.Type == clientv3.EventTypeDelete})
	}
	return out
}

// Local is View until the engine has a projection.
func (s *Store) Local(f func(datastore.Snapshot) error) (time.Duration, error) {
	return 0, s.View(context.Background(), f)
}

// Barrier asks the cluster.
func (s *Store) Barrier(ctx context.Context) (datastore.Revision, error) {
	rev, err := s.now(ctx)
	return datastore.Revision(rev), err
}
