package etcd

import (
	"context"
	"fmt"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
)

// Revisions are those of the cluster, and those of a store that was restored from a
// snapshot, or of a cluster that was set back (past.go), are larger by a base, so that they go on after the snapshot's: a revision that
// was written down before (an epoch, "applied up to", the generation at a switch) is never
// larger than a new one.

// ensureBase gives a store without data its base.
func (s *Store) ensureBase(ctx context.Context) error {
	if s.o.First == 0 {
		return nil
	}
	_, err := askMembers(ctx, s, func(ctx context.Context, c *clientv3.Client) (struct{}, error) {
		r, err := c.Get(ctx, s.o.Prefix+baseKey)
		if err != nil || r.Header.Revision > int64(s.o.First) {
			return struct{}{}, err
		}
		was := int64(0)
		if len(r.Kvs) > 0 {
			was = r.Kvs[0].ModRevision
		}
		same := clientv3.Compare(clientv3.ModRevision(s.o.Prefix+baseKey), "=", was)
		data := clientv3.Compare(clientv3.ModRevision(s.o.Prefix+"\x01"), "=", 0).WithRange(clientv3.GetPrefixRangeEnd(s.o.Prefix))
		base := strconv.FormatInt(int64(s.o.First)-r.Header.Revision, 10)
		_, err = c.Txn(ctx).If(data, same).Then(clientv3.OpPut(s.o.Prefix+baseKey, base)).Commit()
		return struct{}{}, err
	})
	return err
}

func (s *Store) parseBase(text []byte) (int64, error) {
	base, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || base < 0 {
		return 0, fmt.Errorf(
			"%w: the key %q of the cluster has the value %q",
			datastore.ErrDamaged,
			s.o.Prefix+baseKey,
			text,
		)
	}
	return base, nil
}

// storeRevision is that of the store for one of the cluster.
func (s *Store) storeRevision(raw int64) datastore.Revision {
	if raw == 0 {
		return 0
	}
	return datastore.Revision(raw + s.base.Load())
}

// clusterRevision is the reverse of revision; one from before the base is 0.
func (s *Store) clusterRevision(rev datastore.Revision) int64 {
	return max(0, int64(rev)-s.base.Load())
}

// conditionRevision is raw for a condition on a key: one from before the base is that of no key, and
// 0 that of an absent one.
func (s *Store) conditionRevision(rev datastore.Revision) int64 {
	if raw := s.clusterRevision(rev); raw > 0 || rev == 0 {
		return raw
	}
	return -1
}
