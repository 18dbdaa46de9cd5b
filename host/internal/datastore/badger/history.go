package badger

import (
	"context"
	"time"

	"github.com/dgraph-io/badger/v4"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/engine"
)

// A read of the history ends at whichever comes first.
const (
	historyBatches = 256
	historyBytes   = 1 << 20
)

// Watch follows the changes under the prefixes.
func (s *Store) Watch(ctx context.Context, after datastore.Revision, prefixes []datastore.Prefix, f func(datastore.Batch) error) error {
	return engine.Follow(ctx, s, &s.sig, s.done, after, prefixes, f)
}

// History implements engine.Source from the change log on disk.
func (s *Store) History(after datastore.Revision) ([]datastore.Batch, error) {
	newest := s.Revision() // later ones may not be on the disk yet
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.views.Done()
	if after >= newest {
		return nil, nil
	}
	var out []datastore.Batch
	err := s.db.View(func(txn *badger.Txn) error {
		size, next := 0, after+1
		for item := range (snapshot{txn}).items([]byte{logKind}, logKey(next), true) {
			rev, _, err := decodeRevision(item.Key()[1:])
			if err != nil {
				return readError(err)
			}
			if rev != next {
				return datastore.ErrCompacted
			}
			if rev > newest {
				break
			}
			b, err := readBatch(item, rev)
			if err != nil {
				return readError(err)
			}
			out = append(out, b)
			next++
			if size += engine.Size(b); size > historyBytes || len(out) == historyBatches {
				break
			}
		}
		if len(out) == 0 {
			return datastore.ErrCompacted
		}
		return nil
	})
	return out, err
}

func readBatch(item *badger.Item, rev datastore.Revision) (b datastore.Batch, err error) {
	err = item.Value(func(v []byte) (err error) { b, err = decodeBatch(rev, v); return })
	return b, err
}

// Local is View: everything is here.
func (s *Store) Local(f func(datastore.Snapshot) error) (time.Duration, error) {
	return 0, s.View(context.Background(), f)
}

// Barrier is Revision: everything is here.
func (s *Store) Barrier(ctx context.Context) (datastore.Revision, error) {
	return s.Revision(), ctx.Err()
}
