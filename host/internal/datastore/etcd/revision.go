package etcd

import (
	"context"
	"fmt"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ctl.internal/host/internal/datastore"
)

// Revisions are those of the cluster, and those of a store that was restored from a
// snapshot are larger by a base, so that they go on after the snapshot's: a revision that
// was written down before (an epoch, "applied up to", the generation at a switch) is never
// larger than a new one.

// begin gives a store without data its base.
func (s *Store) begin(ctx context.Context) error {
	if s.o.First == 0 {
		return nil
	}
	return s.call(ctx, func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Get(ctx, s.o.Prefix+baseKey)
		if err != nil || r.Header.Revision > int64(s.o.First) {
			return err
		}
		data := clientv3.Compare(clientv3.ModRevision(s.o.Prefix+"\x01"), "=", 0).WithRange(clientv3.GetPrefixRangeEnd(s.o.Prefix))
		_, err = c.Txn(ctx).If(data).Then(clientv3.OpPut(s.o.Prefix+baseKey, strconv.FormatInt(int64(s.o.First)-r.Header.Revision, 10))).Commit()
		return err
	})
}

func (s *Store) readBase(text []byte) error {
	base, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || base < 0 {
		return fmt.Errorf("%w: the key %q of the cluster has the value %q", datastore.ErrDamaged, s.o.Prefix+baseKey, text)
	}
	s.base.Store(base)
	return nil
}

// revision is that of the store for one of the cluster.
func (s *Store) revision(raw int64) datastore.Revision {
	if raw == 0 {
		return 0
	}
	return datastore.Revision(raw + s.base.Load())
}

// raw is the reverse of revision; one from before the base is 0.
func (s *Store) raw(rev datastore.Revision) int64 { return max(0, int64(rev)-s.base.Load()) }

// exactly is raw for a condition on a key: one from before the base is that of no key, and
// 0 that of an absent one.
func (s *Store) exactly(rev datastore.Revision) int64 {
	if raw := s.raw(rev); raw > 0 || rev == 0 {
		return raw
	}
	return -1
}
