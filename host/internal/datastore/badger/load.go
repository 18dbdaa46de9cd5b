package badger

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dgraph-io/badger/v4"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/projection"
)

// logWrite is one kept record of the log.
type logWrite struct {
	first, last datastore.Revision
	size        int
	sum         digest
}

// loaded is everything that a store holds.
type loaded struct {
	state *projection.State
	meta  meta // as it was found
	logs  []logWrite
	parts map[string]int // joined keys with further entries, and how many
}

// loadStore reads the whole store and compares it with its digest.
func loadStore(db *badger.DB, history int) (loaded, error) {
	l := loader{
		out:    projection.NewLoader(history),
		long:   map[string]*long{},
		loaded: loaded{parts: map[string]int{}},
	}
	err := db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			item := it.Item()
			value, err := item.ValueCopy(nil)
			if err == nil {
				err = l.takeEntry(item.Key(), value)
			}
			if err != nil {
				return fmt.Errorf(
					"the entry %q: %w",
					bytes.ToValidUTF8(item.Key(), []byte("?")),
					err,
				)
			}
		}
		return nil
	})
	if err == nil {
		err = l.finishLoad()
	}
	return l.loaded, err
}

type long struct {
	entry   datastore.Entry
	ns      string
	further uint64
}

type loader struct {
	loaded
	out     *projection.Loader
	found   meta // what was counted
	long    map[string]*long
	batches []datastore.Batch
	open    []byte // the log record that is being put together
}

func (l *loader) takeEntry(key, value []byte) error {
	switch key[0] {
	case dataKind:
		joined := string(key[1:])
		rev, further, value, err := decodeData(value)
		if err != nil {
			return err
		}
		ns, name := projection.Split(joined)
		e := datastore.Entry{
			Key:      name,
			Value:    value,
			Revision: rev,
		}
		if further > 0 {
			l.long[joined], l.parts[joined] = &long{e, ns, further}, int(further)
			return nil
		}
		l.putEntry(joined, ns, e)
	case partKind:
		joined := string(key[1 : len(key)-4])
		v := l.long[joined]
		if v == nil {
			return errRecord
		}
		v.entry.Value = append(v.entry.Value, value...)
		if v.further--; v.further == 0 {
			delete(l.long, joined)
			l.putEntry(joined, v.ns, v.entry)
		}
	case logKind:
		if len(key) != 13 {
			return errRecord
		}
		first := datastore.Revision(binary.BigEndian.Uint64(key[1:]))
		if binary.BigEndian.Uint32(key[9:]) == 0 {
			if err := l.endLog(); err != nil {
				return err
			}
			l.logs = append(l.logs, logWrite{first: first})
		}
		if len(l.logs) == 0 || l.logs[len(l.logs)-1].first != first {
			return errRecord
		}
		l.open = append(l.open, value...)
	case metaKind:
		m, err := decodeMeta(value)
		l.meta = m
		return err
	default:
		return errRecord
	}
	return nil
}

func (l *loader) putEntry(joined, ns string, e datastore.Entry) {
	l.found.Keys++
	l.found.Sum.addDigest(hashEntry(dataKind, joined, e.Revision, e.Value))
	l.out.Put(ns, e)
}

// endLog takes the log record of which all parts were read.
func (l *loader) endLog() error {
	if len(l.open) == 0 {
		return nil
	}
	batches, err := decodeBatches(l.open)
	if err != nil || len(batches) == 0 {
		return errRecord
	}
	w := &l.logs[len(l.logs)-1]
	w.last, w.size, w.sum = batches[len(batches)-1].Revision, len(l.open), hashEntry(logKind, "", w.first, l.open)
	l.found.Logs++
	l.found.Sum.addDigest(w.sum)
	l.batches = append(l.batches, batches...)
	l.open = nil
	return nil
}

func (l *loader) finishLoad() error {
	if err := l.endLog(); err != nil {
		return err
	}
	l.found.Rev = l.meta.Rev
	if l.found != l.meta || len(l.long) > 0 {
		return fmt.Errorf("it contains %d entries and %d transactions instead of %d and %d, or some of them were altered",
			l.found.Keys, l.found.Logs, l.meta.Keys, l.meta.Logs)
	}
	l.state = l.out.State(l.meta.Rev)
	for _, b := range l.resumableBatches() {
		l.out.Log(b)
	}
	l.state = l.out.State(l.meta.Rev)
	return nil
}

// resumableBatches are the newest transactions without a gap. The value of a large one that was
// overwritten since is gone, and with it what is older.
func (l *loader) resumableBatches() []datastore.Batch {
	next := datastore.Revision(math.MaxUint64)
	for i := len(l.batches) - 1; i >= 0; i-- {
		b := l.batches[i]
		if next != math.MaxUint64 && b.Revision+1 != next {
			return l.batches[i+1:]
		}
		next = b.Revision
		for j, e := range b.Events {
			if e.Value != nil || e.Deleted {
				continue
			}
			now, err := l.state.Get(e.Namespace, e.Key)
			if err != nil || now.Revision != b.Revision {
				return l.batches[i+1:]
			}
			b.Events[j].Value = now.Value
		}
	}
	return l.batches
}
