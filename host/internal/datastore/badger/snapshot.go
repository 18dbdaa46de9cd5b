package badger

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/engine"
)

// Revision is that of the newest committed transaction.
func (s *Store) Revision() datastore.Revision { return datastore.Revision(s.rev.Load()) }

// View runs f on a consistent snapshot.
func (s *Store) View(ctx context.Context, f func(datastore.Snapshot) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.views.Done()
	return s.db.View(func(txn *badger.Txn) error {
		sn := snapshot{txn}
		rev, err := sn.newest()
		if err != nil {
			return err
		}
		return f(struct {
			snapshot
			at
		}{sn, at(rev)})
	})
}

// at is the revision of a snapshot.
type at datastore.Revision

// Revision of the snapshot.
func (a at) Revision() datastore.Revision { return datastore.Revision(a) }

// snapshot reads a Badger transaction; of a writing one it sees the pending writes.
type snapshot struct{ txn *badger.Txn }

func (sn snapshot) newest() (datastore.Revision, error) {
	item, err := sn.txn.Get(newestKey)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, readError(err)
	}
	var rev datastore.Revision
	err = item.Value(func(v []byte) (err error) { rev, _, err = decodeRevision(v); return })
	return rev, readError(err)
}

// Get reads one key.
func (sn snapshot) Get(ns, key string) (datastore.Entry, error) {
	if err := engine.CheckKey(ns, key, false); err != nil {
		return datastore.Entry{}, err
	}
	item, err := sn.txn.Get(dataKey(ns, key))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return datastore.Entry{}, fmt.Errorf("%w: %q in namespace %q", datastore.ErrNotFound, key, ns)
	}
	if err != nil {
		return datastore.Entry{}, readError(err)
	}
	return entry(item, key)
}

func entry(item *badger.Item, key string) (datastore.Entry, error) {
	b, err := item.ValueCopy(nil)
	if err != nil {
		return datastore.Entry{}, readError(err)
	}
	rev, value, err := decodeRevision(b)
	return datastore.Entry{Key: key, Value: value, Revision: rev}, readError(err)
}

// Range yields the entries of a namespace in order.
func (sn snapshot) Range(ns string, o datastore.RangeOptions) iter.Seq2[datastore.Entry, error] {
	return func(yield func(datastore.Entry, error) bool) {
		if err := engine.CheckKey(ns, o.Prefix, true); err != nil {
			yield(datastore.Entry{}, err)
			return
		}
		left := o.Limit
		for item := range sn.items(dataKey(ns, o.Prefix), dataKey(ns, o.After), o.Limit != 1) {
			_, key := engine.Split(string(item.Key()[1:]))
			if o.After != "" && key <= o.After {
				continue
			}
			e, err := entry(item, key)
			if err != nil {
				yield(datastore.Entry{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// items yields what begins with prefix, from the larger of prefix and start on.
func (sn snapshot) items(prefix, start []byte, values bool) iter.Seq[*badger.Item] {
	return func(yield func(*badger.Item) bool) {
		o := badger.DefaultIteratorOptions
		o.Prefix, o.PrefetchValues = prefix, values
		it := sn.txn.NewIterator(o)
		defer it.Close()
		if string(start) < string(prefix) {
			start = prefix
		}
		for it.Seek(start); it.ValidForPrefix(prefix); it.Next() {
			if !yield(it.Item()) {
				return
			}
		}
	}
}

// Namespaces yields the namespaces in order.
func (sn snapshot) Namespaces() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for next := ""; ; {
			ns, found := "", false
			for item := range sn.items([]byte{dataKind}, append([]byte{dataKind}, next...), false) {
				ns, _ = engine.Split(string(item.Key()[1:]))
				found = true
				break
			}
			if !found || !yield(ns, nil) {
				return
			}
			next = engine.Beyond(ns)
		}
	}
}

func readError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, badger.ErrDBClosed):
		return datastore.ErrClosed
	}
	return fmt.Errorf("%w: read: %w", datastore.ErrDamaged, err)
}
