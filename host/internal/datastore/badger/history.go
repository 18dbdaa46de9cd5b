package badger

import (
	"context"

	"github.com/dgraph-io/badger/v4"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/engine"
)

// A read of the history ends at whichever comes first.
const (
	historyBatches = 256
	historyBytes   = 1 << 20
)

// Watch follows the changes under a namespace and prefix.
func (s *Store) Watch(ctx context.Context, ns, prefix string, after datastore.Revision, f func(datastore.Batch) error) error {
	return engine.Follow(ctx, s, &s.sig, s.done, ns, prefix, after, f)
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
