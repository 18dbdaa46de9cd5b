package etcd

import (
	"context"
	"fmt"
	"iter"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/engine"
)

// attempts bounds how often a transaction is worked out anew because others wrote
// under a prefix that it deletes.
const attempts = 20

// Commit works the transaction out at one revision of the cluster and applies it
// under the condition that what it was worked out from is still so.
func (s *Store) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if s.closed() {
		return 0, datastore.ErrClosed
	}
	if err := engine.CheckTxn(t); err != nil {
		return 0, err
	}
	for range attempts {
		rev, ok, err := s.try(ctx, t)
		if err != nil {
			return 0, err
		}
		if ok {
			s.compact(ctx, rev)
			return datastore.Revision(rev), nil
		}
	}
	return 0, fmt.Errorf("%w: others kept writing under a prefix that is to be deleted", datastore.ErrConflict)
}

func (s *Store) try(ctx context.Context, t datastore.Txn) (rev int64, ok bool, err error) {
	at, err := s.now(ctx)
	if err != nil {
		return 0, false, err
	}
	v := &txnView{sn: snapshot{s, ctx, at}, revisions: map[string]int64{}}
	if err := v.prefetch(t); err != nil {
		return 0, false, err
	}
	b, err := engine.Resolve(v, t, datastore.Revision(at)+1)
	if err != nil {
		return 0, false, err
	}
	if len(b.Events) == 0 {
		return at, true, nil
	}
	call, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	r, err := s.client.Txn(call).If(s.conditions(t, at)...).Then(s.operations(t, b)...).Commit()
	if err != nil {
		return 0, false, s.translate(err)
	}
	s.saw(r.Header.Revision)
	return r.Header.Revision, r.Succeeded, nil
}

// conditions are the compares and that deleted prefixes hold nothing newer.
func (s *Store) conditions(t datastore.Txn, at int64) []clientv3.Cmp {
	var out []clientv3.Cmp
	for _, c := range t.Compares {
		if c.Prefix {
			out = append(out, clientv3.Compare(clientv3.ModRevision(s.key(c.Namespace, c.Key)).WithPrefix(), "<", int64(c.Revision)+1))
			continue
		}
		out = append(out, clientv3.Compare(clientv3.ModRevision(s.key(c.Namespace, c.Key)), "=", int64(c.Revision)))
	}
	for _, o := range t.Ops {
		if o.DeletePrefix {
			out = append(out, clientv3.Compare(clientv3.ModRevision(s.key(o.Namespace, o.Key)).WithPrefix(), "<", at+1))
		}
	}
	return out
}

// operations are the net changes, and deletions of keys that were not there when
// it was worked out but may be by now.
func (s *Store) operations(t datastore.Txn, b datastore.Batch) []clientv3.Op {
	var out []clientv3.Op
	seen := map[string]bool{}
	for _, e := range b.Events {
		key := s.key(e.Namespace, e.Key)
		seen[key] = true
		if e.Deleted {
			out = append(out, clientv3.OpDelete(key))
		} else {
			out = append(out, clientv3.OpPut(key, string(e.Value)))
		}
	}
	for _, o := range t.Ops {
		if key := s.key(o.Namespace, o.Key); o.Delete && !seen[key] {
			seen[key] = true
			out = append(out, clientv3.OpDelete(key))
		}
	}
	return out
}

// compact forgets old revisions when the store was told how many to keep.
func (s *Store) compact(ctx context.Context, rev int64) {
	if keep := rev - int64(s.o.History); s.o.History > 0 && keep > 0 {
		ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
		defer cancel()
		_, _ = s.client.Compact(ctx, keep) // another controller may have been further
	}
}

// txnView is the state a transaction is worked out from.
type txnView struct {
	sn        snapshot
	revisions map[string]int64 // by key in the cluster; 0 = absent
}

// prefetchKeys is how many keys one call asks for: what every cluster allows.
const prefetchKeys = 100

// prefetch reads the revisions of all single keys that Resolve will ask for.
func (v *txnView) prefetch(t datastore.Txn) error {
	var keys []string
	need := func(ns, key string) {
		k := v.sn.s.key(ns, key)
		if _, ok := v.revisions[k]; !ok {
			v.revisions[k] = 0
			keys = append(keys, k)
		}
	}
	for _, c := range t.Compares {
		if c.Prefix {
			continue
		}
		need(c.Namespace, c.Key)
	}
	for _, o := range t.Ops {
		if !o.DeletePrefix { // a key put here may be deleted by a later op
			need(o.Namespace, o.Key)
		}
	}
	if len(keys) > 0 && !needed(t) {
		return nil
	}
	for len(keys) > 0 {
		n := min(len(keys), prefetchKeys)
		if err := v.fetch(keys[:n]); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// needed reports whether anything but puts is in the transaction: puts alone are
// worked out without knowing what is there.
func needed(t datastore.Txn) bool {
	if len(t.Compares) > 0 {
		return true
	}
	for _, o := range t.Ops {
		if o.Delete || o.DeletePrefix {
			return true
		}
	}
	return false
}

func (v *txnView) fetch(keys []string) error {
	s := v.sn.s
	ctx, cancel := context.WithTimeout(v.sn.ctx, s.o.Timeout)
	defer cancel()
	var ops []clientv3.Op
	for _, k := range keys {
		ops = append(ops, clientv3.OpGet(k, clientv3.WithKeysOnly(), clientv3.WithRev(v.sn.rev)))
	}
	r, err := s.client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return s.translate(err)
	}
	for i, k := range keys {
		if kvs := r.Responses[i].GetResponseRange().Kvs; len(kvs) > 0 {
			v.revisions[k] = kvs[0].ModRevision
		}
	}
	return nil
}

// Revision implements engine.View.
func (v *txnView) Revision(ns, key string) (datastore.Revision, error) {
	return datastore.Revision(v.revisions[v.sn.s.key(ns, key)]), nil
}

// Keys implements engine.View, and remembers what it saw for Revision.
func (v *txnView) Keys(ns, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for kv, err := range v.sn.pages(ns, datastore.RangeOptions{Prefix: prefix}, true) {
			if err != nil {
				yield("", err)
				return
			}
			v.revisions[string(kv.Key)] = kv.ModRevision
			if !yield(strings.TrimPrefix(string(kv.Key), v.sn.s.key(ns, "")), nil) {
				return
			}
		}
	}
}
