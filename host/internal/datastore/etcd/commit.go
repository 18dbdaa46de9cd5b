package etcd

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
	"ctl.internal/sdk/fault"
)

// attempts bounds how often a transaction is worked out again because others wrote under a
// prefix that it replaces.
const attempts = 20

// Commit sends t as one transaction of the cluster, conditions included.
//
// Every commit has the condition that the epoch key is unchanged. When the answer is
// unclear (a timeout, a new leader) this process changes the epoch: after that the
// transaction can no longer be applied, and if it was, the watch has shown it.
func (s *Store) Commit(ctx context.Context, t datastore.Txn) (datastore.Revision, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := s.Err(); err != nil {
		return 0, err
	}
	if err := projection.CheckTxn(t); err != nil {
		return 0, err
	}
	// The caller's end does not end what is on its way: the cluster may do it all the same.
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.wholeTimeout())
	defer cancel()
	if s.projectionAge() > s.o.trustedTime() { // refused in order, rather than sent into the unknown
		if _, err := s.Barrier(bound); err != nil {
			return 0, err
		}
	}
	for range attempts {
		st := s.State()
		if err := s.outdatedConflict(st, t); err != nil {
			return 0, err
		}
		if hasManyCompares(t) {
			if _, err := s.Barrier(bound); err != nil {
				return 0, err
			}
			st = s.State()
			if _, err := st.Resolve(t, st.Revision()+1, time.Time{}); err != nil {
				return 0, err
			}
		}
		if onlyDeletes(st, t) {
			if _, err := s.Barrier(bound); err != nil {
				return 0, err
			}
			st = s.State()
			b, err := st.Resolve(t, st.Revision()+1, time.Time{})
			if err != nil {
				return 0, err
			}
			if len(b.Events) == 0 {
				return st.Revision(), nil
			}
		}
		rev, done, err := s.tryCommit(bound, st, t)
		if done || err != nil {
			return rev, err
		}
	}
	if hasManyCompares(t) {
		return 0, &datastore.ConflictError{
			Namespace: t.Compares[0].Namespace,
			Key:       t.Compares[0].Key,
			Revision:  s.Revision(),
		}
	}
	return 0, fmt.Errorf(
		"%w: other writers kept changing a prefix that is replaced",
		datastore.ErrConflict,
	)
}

// maxConditions is how many compares of one transaction the cluster is asked to check. More
// are checked here, and the cluster checks that nobody has committed anything since.
const maxConditions = 100

func hasManyCompares(t datastore.Txn) bool {
	return len(t.Compares) > maxConditions
}

// onlyDeletes reports whether t deletes only what does not exist, which is no commit.
func onlyDeletes(st *projection.State, t datastore.Txn) bool {
	for _, e := range st.Net(t.Ops, 0) {
		if !e.Deleted || st.Stored(e.Namespace, e.Key) != nil {
			return false
		}
	}
	return true
}

// outdatedConflict is the conflict of a condition on a revision from before the base: what was read
// then is not in the cluster.
func (s *Store) outdatedConflict(st *projection.State, t datastore.Txn) error {
	for i, c := range t.Compares {
		if c.Revision == 0 || s.clusterRevision(c.Revision) > 0 {
			continue
		}
		now, _ := st.Peek(c.Namespace, c.Key)
		return &datastore.ConflictError{
			Index:     i,
			Namespace: c.Namespace,
			Key:       c.Key,
			Revision:  now.Revision,
			Reason:    "the etcd cluster was set back to an older state after that was read: read it again",
		}
	}
	return nil
}

// tryCommit sends the transaction once. It is not done when it has to be worked out again.
func (s *Store) tryCommit(
	ctx context.Context,
	st *projection.State,
	t datastore.Txn,
) (rev datastore.Revision, done bool, err error) {
	id := rand.Text()
	h, err := json.Marshal(head{
		By:   t.By,
		Node: s.node,
		At:   time.Now().UnixNano(),
		ID:   id,
	})
	if err != nil {
		return 0, false, err
	}
	sent, loads := s.expectCommit(id)
	defer s.forgetCommit(id)
	known, base := *s.latest.Load(), s.base.Load()
	conditions, ops := s.planCommit(st, t)
	conditions = append(conditions, s.unmovedConditions(known)...)
	ops = append(ops, clientv3.OpPut(s.o.Prefix+headKey, string(h)))
	m := s.members.preferred.Load()
	r, err := askOnce(ctx, s, m, func(ctx context.Context, c *clientv3.Client) (*clientv3.TxnResponse, error) {
		return c.Txn(ctx).If(conditions...).Then(ops...).Else(s.witnessOps(t)...).Commit()
	})
	raw := int64(0)
	switch {
	case err != nil && s.refusedError(err) != nil:
		return 0, false, s.refusedError(err)
	case err != nil:
		s.preferOther(m)
		raw, done, err = s.findOutcome(ctx, sent, loads, err)
	case !r.Succeeded:
		return 0, false, s.findConflict(ctx, known, t, r)
	default:
		raw, done = r.Header.Revision, true
		if err := s.waitArrived(ctx, sent, raw); err != nil {
			return 0, false, fault.Wrap(
				fault.Timeout,
				err,
				"the transaction was applied at revision %d, but this node did not receive that revision in time: %v",
				raw,
				err,
			)
		}
	}
	if raw > 0 {
		rev = datastore.Revision(raw + base)
	}
	return rev, done, err
}

// unmovedConditions are the conditions that the cluster has the past that this node knows.
func (s *Store) unmovedConditions(known mark) []clientv3.Cmp {
	return []clientv3.Cmp{
		clientv3.Compare(clientv3.ModRevision(s.o.Prefix+baseKey), "=", known.base),
		clientv3.Compare(clientv3.ModRevision(s.o.Prefix+headKey), ">", known.head-1),
	}
}

// planCommit is the condition and the net effect of t on the cluster. A deleted prefix is one
// operation, unless keys below it are put by the same transaction, which a cluster refuses.
func (s *Store) planCommit(
	st *projection.State,
	t datastore.Txn,
) (conditions []clientv3.Cmp, ops []clientv3.Op) {
	conditions = []clientv3.Cmp{clientv3.Compare(
		clientv3.ModRevision(s.o.Prefix+epochKey),
		"=",
		s.epoch.Load(),
	)}
	compares := t.Compares
	if hasManyCompares(t) {
		conditions = append(
			conditions,
			clientv3.Compare(
				clientv3.ModRevision(s.o.Prefix+headKey),
				"<",
				s.clusterRevision(st.Revision())+1,
			),
		)
		compares = nil
	}
	for _, c := range compares {
		if c.Prefix {
			conditions = append(
				conditions,
				clientv3.Compare(
					clientv3.ModRevision(s.etcdKey(c.Namespace, c.Key)).WithPrefix(),
					"<",
					s.clusterRevision(c.Revision)+1,
				),
			)
		} else {
			conditions = append(
				conditions,
				clientv3.Compare(
					clientv3.ModRevision(s.etcdKey(c.Namespace, c.Key)),
					"=",
					s.conditionRevision(c.Revision),
				),
			)
		}
	}
	events := st.Net(t.Ops, 0)
	leases := map[string]clientv3.LeaseID{}
	var whole []string // prefixes that are deleted as such
	for _, o := range t.Ops {
		key := s.etcdKey(o.Namespace, o.Key)
		leases[key] = clientv3.LeaseID(o.Lease)
		if !o.DeletePrefix {
			continue
		}
		if putBelow(events, o) {
			conditions = append(
				conditions,
				clientv3.Compare(
					clientv3.ModRevision(key).WithPrefix(),
					"<",
					s.clusterRevision(st.Revision())+1,
				),
			)
			continue
		}
		whole = append(whole, key)
		ops = append(ops, clientv3.OpDelete(key, clientv3.WithPrefix()))
	}
	for _, e := range events {
		switch key := s.etcdKey(e.Namespace, e.Key); {
		case !e.Deleted:
			ops = append(ops, clientv3.OpPut(key, string(e.Value), clientv3.WithLease(leases[key])))
		case !hasAnyPrefix(key, whole):
			ops = append(ops, clientv3.OpDelete(key))
		}
	}
	return conditions, ops
}

func putBelow(events []datastore.Event, o datastore.Op) bool {
	return slices.ContainsFunc(events, func(e datastore.Event) bool {
		return !e.Deleted && e.Namespace == o.Namespace && strings.HasPrefix(e.Key, o.Key)
	})
}

func hasAnyPrefix(key string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool {
		return strings.HasPrefix(key, p)
	})
}

func (s *Store) etcdKey(ns, key string) string {
	return s.o.Prefix + projection.Join(ns, key)
}

// witnessOps read what says which condition did not hold.
func (s *Store) witnessOps(t datastore.Txn) []clientv3.Op {
	var ops []clientv3.Op
	for _, own := range ownWitnesses {
		ops = append(ops, clientv3.OpGet(s.o.Prefix+own, clientv3.WithKeysOnly()))
	}
	if hasManyCompares(t) {
		return ops
	}
	for _, c := range t.Compares {
		opts := []clientv3.OpOption{clientv3.WithKeysOnly()}
		if c.Prefix {
			opts = append(
				opts,
				clientv3.WithPrefix(),
				clientv3.WithSort(clientv3.SortByModRevision, clientv3.SortDescend),
				clientv3.WithLimit(1),
			)
		}
		ops = append(ops, clientv3.OpGet(s.etcdKey(c.Namespace, c.Key), opts...))
	}
	return ops
}

// ownWitnesses are read before those of the compares.
var ownWitnesses = [...]string{epochKey, headKey, baseKey}

// findConflict is the conflict, or nil when the transaction has to be worked out again.
func (s *Store) findConflict(
	ctx context.Context,
	known mark,
	t datastore.Txn,
	r *clientv3.TxnResponse,
) error {
	kv := func(i int) (key string, rev int64) {
		if kvs := (*pb.ResponseOp)(r.Responses[i]).GetResponseRange().Kvs; len(kvs) > 0 {
			return string(kvs[0].Key), kvs[0].ModRevision
		}
		return "", 0
	}
	_, epoch := kv(0)
	_, head := kv(1)
	_, base := kv(2)
	if base != known.base || head < known.head {
		return s.readAgain(ctx)
	}
	compares := t.Compares
	if hasManyCompares(t) { // it is worked out again on what is new
		compares = nil
	}
	for i, c := range compares {
		key, have := kv(len(ownWitnesses) + i)
		if c.Prefix && have <= s.clusterRevision(c.Revision) ||
			!c.Prefix && have == s.conditionRevision(c.Revision) {
			continue
		}
		name := c.Key
		if c.Prefix {
			name = strings.TrimPrefix(key, s.etcdKey(c.Namespace, ""))
		}
		_ = s.reachRevision(ctx, have) // to know who it was
		return s.State().Conflict(i, c.Namespace, name, s.storeRevision(have))
	}
	s.epoch.Store(max(epoch, s.epoch.Load()))
	// What was written below a replaced prefix is in the projection when its newest commit is.
	_, err := s.Barrier(ctx)
	return err
}

// findOutcome finds out what became of a transaction with an unclear answer.
func (s *Store) findOutcome(
	ctx context.Context,
	sent *commit,
	loads int,
	cause error,
) (rev int64, done bool, err error) {
	unknown := func(err error) error {
		return fault.Wrap(
			fault.Timeout,
			cause,
			"it is not known whether the transaction was applied: %v",
			err,
		)
	}
	fenced, err := askMembers(ctx, s, func(ctx context.Context, c *clientv3.Client) (int64, error) {
		r, err := c.Put(ctx, s.o.Prefix+epochKey, s.node)
		if err != nil {
			return 0, err
		}
		return r.Header.Revision, nil
	})
	if err != nil {
		return 0, false, unknown(err)
	}
	if err := s.reachRevision(ctx, fenced); err != nil {
		return 0, false, unknown(err)
	}
	s.sentMu.Lock()
	rev, again := sent.rev, s.loads
	s.sentMu.Unlock()
	if rev == 0 && again != loads {
		return 0, false, unknown(errors.New("the state was read again meanwhile"))
	}
	return rev, rev > 0, nil
}

// waitArrived waits until the projection has the commit.
func (s *Store) waitArrived(ctx context.Context, sent *commit, rev int64) error {
	late := time.NewTimer(s.o.tryTimeout())
	defer late.Stop()
	select {
	case <-sent.shown:
		return nil
	case <-late.C: // the watch is stuck, or the state was read again
	case <-ctx.Done():
	}
	return s.reachRevision(ctx, rev)
}

func (s *Store) expectCommit(id string) (sent *commit, loads int) {
	s.sentMu.Lock()
	defer s.sentMu.Unlock()
	sent = &commit{shown: make(chan struct{})}
	s.ids[id] = sent
	return sent, s.loads
}

func (s *Store) forgetCommit(id string) {
	s.sentMu.Lock()
	defer s.sentMu.Unlock()
	delete(s.ids, id)
}
