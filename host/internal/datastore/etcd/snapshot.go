package etcd

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/engine"
)

// page is how many entries one call reads.
const page = 1000

// View runs f on the cluster's newest revision. A view that takes longer than
// the cluster keeps old revisions fails with ErrCompacted.
func (s *Store) View(ctx context.Context, f func(datastore.Snapshot) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed() {
		return datastore.ErrClosed
	}
	rev, err := s.now(ctx)
	if err != nil {
		return err
	}
	return f(snapshot{s, ctx, rev})
}

type snapshot struct {
	s   *Store
	ctx context.Context // of the View, which it does not outlive
	rev int64
}

// Revision of the snapshot.
func (sn snapshot) Revision() datastore.Revision { return datastore.Revision(sn.rev) }

func (sn snapshot) read(key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(sn.ctx, sn.s.o.Timeout)
	defer cancel()
	r, err := sn.s.client.Get(ctx, key, append(opts, clientv3.WithRev(sn.rev))...)
	return r, sn.s.translate(err)
}

// Get reads one key.
func (sn snapshot) Get(ns, key string) (datastore.Entry, error) {
	if err := engine.CheckKey(ns, key, false); err != nil {
		return datastore.Entry{}, err
	}
	r, err := sn.read(sn.s.key(ns, key))
	if err != nil {
		return datastore.Entry{}, err
	}
	if len(r.Kvs) == 0 {
		return datastore.Entry{}, fmt.Errorf("%w: %q in namespace %q", datastore.ErrNotFound, key, ns)
	}
	return sn.s.entry(ns, r.Kvs[0]), nil
}

// Range yields the entries of a namespace in order.
func (sn snapshot) Range(ns string, o datastore.RangeOptions) iter.Seq2[datastore.Entry, error] {
	return func(yield func(datastore.Entry, error) bool) {
		if err := engine.CheckKey(ns, o.Prefix, true); err != nil {
			yield(datastore.Entry{}, err)
			return
		}
		left := o.Limit
		for kv, err := range sn.pages(ns, o, false) {
			if err != nil {
				yield(datastore.Entry{}, err)
				return
			}
			if !yield(sn.s.entry(ns, kv), nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// pages reads a range piece by piece, all at the revision of the snapshot.
func (sn snapshot) pages(ns string, o datastore.RangeOptions, keysOnly bool) iter.Seq2[*mvccpb.KeyValue, error] {
	return func(yield func(*mvccpb.KeyValue, error) bool) {
		start := sn.s.key(ns, o.Prefix)
		end := clientv3.GetPrefixRangeEnd(start)
		if after := sn.s.key(ns, o.After) + "\x00"; o.After != "" && after > start {
			start = after
		}
		limit := page
		if o.Limit > 0 {
			limit = min(limit, o.Limit)
		}
		opts := []clientv3.OpOption{clientv3.WithRange(end), clientv3.WithLimit(int64(limit))}
		if keysOnly {
			opts = append(opts, clientv3.WithKeysOnly())
		}
		for start < end {
			r, err := sn.read(start, opts...)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, kv := range r.Kvs {
				if !yield(kv, nil) {
					return
				}
			}
			if !r.More || len(r.Kvs) == 0 {
				return
			}
			start = string(r.Kvs[len(r.Kvs)-1].Key) + "\x00"
		}
	}
}

// Namespaces yields the namespaces in order.
func (sn snapshot) Namespaces() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		end := clientv3.GetPrefixRangeEnd(sn.s.o.Prefix)
		for next := sn.s.o.Prefix; next < end; {
			r, err := sn.read(next, clientv3.WithRange(end), clientv3.WithLimit(1), clientv3.WithKeysOnly())
			if err != nil {
				yield("", err)
				return
			}
			if len(r.Kvs) == 0 {
				return
			}
			ns, _ := engine.Split(strings.TrimPrefix(string(r.Kvs[0].Key), sn.s.o.Prefix))
			if !yield(ns, nil) {
				return
			}
			next = sn.s.o.Prefix + engine.Beyond(ns)
		}
	}
}

func (s *Store) key(ns, key string) string { return s.o.Prefix + engine.Join(ns, key) }

func (s *Store) entry(ns string, kv *mvccpb.KeyValue) datastore.Entry {
	value := kv.Value
	if value == nil {
		value = []byte{}
	}
	return datastore.Entry{Key: strings.TrimPrefix(string(kv.Key), s.key(ns, "")), Value: value, Revision: datastore.Revision(kv.ModRevision)}
}
