package state

import (
	"encoding/json"
	"iter"
	"strings"
	"sync"
	"unsafe"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// Codec writes and reads the value of a record. Nil functions mean JSON.
type Codec[T any] struct {
	Encode func(key string, v T) ([]byte, error)
	Decode func(key string, value []byte) (T, error)
}

// Table is the records below a prefix, one value a key. Keys are without the prefix.
type Table[T any] struct {
	followed
	codec Codec[T]
	plain bool // records are JSON as encoding/json has it
}

// row is one record; err says that it cannot be decoded. Those of a Table are decoded when
// they are read first: many are replaced before anything reads them.
type row[T any] struct {
	value    T
	revision uint64
	unknown  members // of the record, which T has no field for
	err      error

	text []byte // until it is decoded
	once sync.Once
}

// rows are a tree of *row[T]. The tree is not generic itself: compilers would make all of it
// again for each T.
type rows = iradix.Tree[any]

// rowAt returns the row of a key.
func rowAt[T any](t *rows, key string) (*row[T], bool) {
	x, ok := t.Get([]byte(key))
	if !ok {
		return nil, false
	}
	return x.(*row[T]), true
}

// stringFromKey returns a key of a tree, which never changes, as a string.
func stringFromKey(key []byte) string {
	return unsafe.String(unsafe.SliceData(key), len(key))
}

// NewTable returns a table of the records below a prefix.
func NewTable[T any](at host.Prefix) *Table[T] {
	return NewTableWith(at, Codec[T]{})
}

// NewTableWith is NewTable for records that are not plain JSON.
func NewTableWith[T any](at host.Prefix, c Codec[T]) *Table[T] {
	plain := c.Decode == nil && c.Encode == nil
	if c.Decode == nil {
		c.Decode = func(_ string, value []byte) (v T, err error) {
			return v, json.Unmarshal(value, &v)
		}
	}
	if c.Encode == nil {
		c.Encode = func(_ string, v T) ([]byte, error) { return json.Marshal(v) }
	}
	return &Table[T]{
		followed: followed{at: at},
		codec:    c,
		plain:    plain,
	}
}

// Get returns the record of a key; false if it does not exist or is not readable.
func (t *Table[T]) Get(r Reader, key string) (T, bool) {
	x, ok := rowAt[T](t.rowTree(r), key)
	if !ok {
		x = &row[T]{}
	} else {
		t.decodeRow(key, x)
	}
	r.recordRead(t.at, t.at.Prefix+key, x.revision)
	return x.value, ok && x.err == nil
}

// Revision returns the revision that wrote the record of a key, 0 if it does not exist.
func (t *Table[T]) Revision(r Reader, key string) uint64 {
	if x, ok := rowAt[T](t.rowTree(r), key); ok {
		return x.revision
	}
	return 0
}

// All yields the readable records whose keys begin with prefix, in the order of keys. In
// a Tx the commit depends on no record being written below the prefix meanwhile; a record
// that must stay is read with Get as well.
func (t *Table[T]) All(r Reader, prefix string) iter.Seq2[string, T] {
	r.readAll(t.at, t.at.Prefix+prefix)
	return func(yield func(string, T) bool) {
		it := t.rowTree(r).Root().Iterator()
		it.SeekPrefix([]byte(prefix))
		for key, v, ok := it.Next(); ok; key, v, ok = it.Next() {
			x := v.(*row[T])
			if t.decodeRow(stringFromKey(key), x); x.err == nil &&
				!yield(stringFromKey(key), x.value) {
				return
			}
		}
	}
}

// Len is the number of records.
func (t *Table[T]) Len(r Reader) int {
	return t.rowTree(r).Len()
}

// Put writes a record. The table must be one of the plugin's private keys. Members that a
// later release has put into the record, and T does not know, stay in it (plain JSON only).
func (t *Table[T]) Put(tx *Tx, key string, v T) error {
	value, err := t.codec.Encode(key, v)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "the record %s cannot be encoded: %v", key, err)
	}
	if before, ok := rowAt[T](t.rowTree(tx), key); ok {
		t.decodeRow(key, before)
		value = before.unknown.addInto(value)
	}
	tx.addOp(host.Op{
		Space: t.at.Space,
		Key:   t.at.Prefix + key,
		Value: value,
	})
	return nil
}

// Delete removes a record; an absent one is no error.
func (t *Table[T]) Delete(tx *Tx, key string) {
	tx.addOp(host.Op{
		Space:  t.at.Space,
		Key:    t.at.Prefix + key,
		Delete: true,
	})
}

func (t *Table[T]) rowTree(r Reader) *rows {
	return r.partAt(t.index).(*rows)
}

func (t *Table[T]) emptyPart() any { return iradix.New[any]() }
func (t *Table[T]) applyEvents(part any, events []host.Event) (any, []string) {
	txn := part.(*rows).Txn()
	keys := make([]string, 0, len(events))
	for _, e := range events {
		key := strings.TrimPrefix(e.Key, t.at.Prefix)
		keys = append(keys, key)
		if e.Deleted {
			txn.Delete([]byte(key))
			continue
		}
		txn.Insert([]byte(key), &row[T]{
			revision: e.Revision,
			text:     e.Value,
		})
	}
	return txn.Commit(), keys
}

func (t *Table[T]) broken(part any, out map[string]error) {
	it := part.(*rows).Root().Iterator()
	for key, v, ok := it.Next(); ok; key, v, ok = it.Next() {
		x := v.(*row[T])
		if t.decodeRow(stringFromKey(key), x); x.err != nil {
			out[t.at.Prefix+string(key)] = x.err
		}
	}
}

// decodeRow sets what is in a row, once.
func (t *Table[T]) decodeRow(key string, x *row[T]) {
	x.once.Do(func() {
		if t.plain && decodeStrict(x.text, &x.value) {
			x.text = nil
			return // as nearly always
		}
		if x.value, x.err = t.codec.Decode(key, x.text); x.err != nil {
			x.err = decodeError(t.at.Prefix+key, x.err)
		} else if t.plain {
			x.unknown = unknownTo[T](x.text)
		}
		x.text = nil
	})
}
