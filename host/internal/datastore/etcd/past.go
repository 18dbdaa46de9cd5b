package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// A cluster that was restored from a backup, or lost its disks, has another past than the
// projection: what it acknowledged since is gone, and its revisions come again with other
// data. Each barrier, each commit and each opening of the watch compares the newest commit
// that this node knows, and the revision of the base key. The first node that notices
// raises the base to the newest revision that it has seen, so that no revision of the
// other past is ever taken for one of this; by the changed base key the others notice.

// mark distinguishes one past of the cluster from another, by revisions.
type mark struct {
	head int64  // of the newest commit; 0 = none
	id   string // of that commit
	base int64  // of the base key; 0 = it does not exist
}

// canFollow reports whether a cluster that has m as its newest can have had the mark before.
func (m mark) canFollow(before mark) bool {
	return m.base == before.base &&
		(m.head > before.head || m.head == before.head && m.id == before.id)
}

// errPast is found by a watch.
var errPast = errors.New("the cluster has another past than this node")

// withKey changes the mark by one of the keys that it is made of.
func (m mark) withKey(name string, kv *mvccpb.KeyValue) mark {
	switch name {
	case headKey:
		var h head
		_ = json.Unmarshal(kv.Value, &h) // one that cannot be read has no id, here and there
		m.head, m.id = kv.ModRevision, h.ID
	case baseKey:
		m.base = kv.ModRevision
	}
	return m
}

// markOf reads the mark from the keys of the store itself.
func (s *Store) markOf(kvs []*mvccpb.KeyValue) (m mark) {
	for _, kv := range kvs {
		m = m.withKey(string(kv.Key)[len(s.o.Prefix):], kv)
	}
	return m
}

// newestMark asks for the mark of the cluster.
func (s *Store) newestMark(ctx context.Context) (mark, error) {
	return askMembers(ctx, s, func(ctx context.Context, c *clientv3.Client) (mark, error) {
		return s.markAt(ctx, c, 0)
	})
}

// markAt reads the mark as it was at a revision; 0 = now.
func (s *Store) markAt(ctx context.Context, c *clientv3.Client, rev int64) (mark, error) {
	r, err := c.Get(
		ctx,
		s.o.Prefix+baseKey,
		clientv3.WithRange(s.o.Prefix+headKey+"\x00"),
		clientv3.WithRev(rev),
	)
	if err != nil {
		return mark{}, err
	}
	return s.markOf(r.Kvs), nil
}

// samePast asks the member of a watch whether its past is that of the projection.
func (s *Store) samePast(ctx context.Context, c *clientv3.Client) error {
	at := s.clusterRevision(s.Revision())
	if at == 0 {
		return nil
	}
	was, err := s.markAt(ctx, c, at)
	switch {
	case errors.Is(err, rpctypes.ErrFutureRev):
		return errPast
	case errors.Is(err, rpctypes.ErrCompacted):
		return datastore.ErrCompacted
	case err != nil:
		return err
	case was != *s.latest.Load():
		return errPast
	}
	return nil
}

// readAgain has the state read again, because the cluster has another past, and waits for it.
func (s *Store) readAgain(ctx context.Context) error {
	before := s.Revision()
	s.stale.Store(true)
	s.reopenWatch()
	if err := s.Wait(ctx, before+1); err != nil {
		return fault.Wrap(
			fault.Unavailable,
			err,
			"the etcd cluster %v was set back to an older state, which is being read: %v",
			s.o.Endpoints,
			err,
		)
	}
	return nil
}

// goBack takes the state of a cluster with another past.
func (s *Store) goBack(ctx context.Context) error {
	was, lost := s.Revision(), *s.latest.Load()
	same, err := s.onlyRaised(ctx, was, lost)
	if err == nil && !same {
		err = s.raiseBase(ctx, was)
	}
	if err == nil {
		err = s.loadProjection(ctx)
	}
	if err != nil {
		return err
	}
	s.stale.Store(false)
	if same {
		s.o.Log.Warn(
			"another controller has raised the revisions, because the etcd cluster was set back: the state was read again",
			"revision",
			s.Revision(),
		)
		return nil
	}
	back := datastore.Back{
		At:   time.Now(),
		From: was,
		To:   s.Revision(),
	}
	s.o.Log.Error("the etcd cluster was set back to an older state: what was acknowledged since is lost; the state was read again, and writes that depend on what was read before are refused",
		"lost_commit", lost.head, "newest_commit", s.latest.Load().head, "from_revision", was, "to_revision", back.To)
	if s.o.Back != nil {
		s.o.Back(back)
	}
	return nil
}

// onlyRaised reports whether the cluster has the past that this node knows up to a revision,
// so that nothing but the base is another one.
func (s *Store) onlyRaised(ctx context.Context, up datastore.Revision, known mark) (bool, error) {
	at := s.clusterRevision(up)
	if at == 0 {
		return true, nil
	}
	then, err := askMembers(ctx, s, func(ctx context.Context, c *clientv3.Client) (mark, error) {
		return s.markAt(ctx, c, at)
	})
	if errors.Is(err, rpctypes.ErrFutureRev) || errors.Is(err, datastore.ErrCompacted) {
		return false, nil
	}
	return then.head == known.head && then.id == known.id, err
}

// raiseBase makes all revisions of the cluster larger than one, unless another node did.
func (s *Store) raiseBase(ctx context.Context, least datastore.Revision) error {
	for {
		r, err := askMembers(ctx, s, func(ctx context.Context, c *clientv3.Client) (*clientv3.GetResponse, error) {
			return c.Get(ctx, s.o.Prefix+baseKey)
		})
		if err != nil {
			return err
		}
		was := int64(0)
		if len(r.Kvs) > 0 {
			base, err := s.parseBase(r.Kvs[0].Value)
			if err != nil || base >= int64(least) {
				return err
			}
			was = r.Kvs[0].ModRevision
		}
		same := clientv3.Compare(clientv3.ModRevision(s.o.Prefix+baseKey), "=", was)
		raise := clientv3.OpPut(s.o.Prefix+baseKey, strconv.FormatInt(int64(least), 10))
		t, err := askMembers(ctx, s, func(ctx context.Context, c *clientv3.Client) (*clientv3.TxnResponse, error) {
			return c.Txn(ctx).If(same).Then(raise).Commit()
		})
		if err != nil || t.Succeeded {
			return err
		}
	}
}
