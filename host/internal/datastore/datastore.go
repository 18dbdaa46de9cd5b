package datastore

import (
	"context"
	"errors"
	"iter"
)

// Revision orders every committed transaction of a store; the first is 1.
type Revision uint64

// Entry is one key with its value as of the transaction that wrote it.
type Entry struct {
	Key      string
	Value    []byte
	Revision Revision // of the last transaction that wrote the key
}

// Compare is a condition of a transaction: the key's revision now. Revision 0
// says that the key must not exist.
type Compare struct {
	Namespace, Key string
	Revision       Revision
}

// Op is one write of a transaction. A nil Value with Delete false is a put of an
// empty value. DeletePrefix deletes every key that begins with Key.
type Op struct {
	Namespace, Key string
	Value          []byte
	Delete         bool
	DeletePrefix   bool
}

// Put returns an Op that writes a value.
func Put(ns, key string, value []byte) Op { return Op{Namespace: ns, Key: key, Value: value} }

// Delete returns an Op that removes a key; an absent key is no error.
func Delete(ns, key string) Op { return Op{Namespace: ns, Key: key, Delete: true} }

// DeletePrefix returns an Op that removes every key with a prefix.
func DeletePrefix(ns, prefix string) Op {
	return Op{Namespace: ns, Key: prefix, DeletePrefix: true}
}

// Txn is all or nothing: if every compare holds, every op is applied in order
// under one revision. A transaction that changes nothing takes no revision of
// its own: Commit then answers the newest one.
type Txn struct {
	Compares []Compare
	Ops      []Op
	// Volatile gives up durability for speed: the engine may answer before the
	// disk has it. Identity and configuration writes leave it false.
	Volatile bool
}

// Event is one change of one key.
type Event struct {
	Namespace string
	Entry
	Deleted bool
}

// Batch is the net changes of one transaction, one event a key in the order of
// first touch, as a watch delivers them.
type Batch struct {
	Revision Revision
	Events   []Event
}

// RangeOptions bounds a range.
type RangeOptions struct {
	Prefix string
	After  string // exclusive start, for paging; empty = from the beginning of Prefix
	Limit  int    // 0 = all
}

// Snapshot is a consistent view of the whole store at one revision.
type Snapshot interface {
	Revision() Revision
	// Get returns ErrNotFound for an absent key.
	Get(ns, key string) (Entry, error)
	// Range yields entries in ascending byte order of their keys. The error of a
	// failed read is yielded last, with a zero Entry.
	Range(ns string, o RangeOptions) iter.Seq2[Entry, error]
	// Namespaces yields those that hold a key, in order. The error of a failed read
	// is yielded last, with an empty name.
	Namespaces() iter.Seq2[string, error]
}

// Store is a datastore engine. It is safe for concurrent use.
type Store interface {
	// View runs f on a consistent snapshot, which is invalid after f returns.
	View(ctx context.Context, f func(Snapshot) error) error
	// Commit applies t and returns its revision, ErrConflict if a compare failed,
	// ErrTooBig when it does not fit, ErrFull when the disk has no room, ErrMoved when
	// the store is no longer where it was opened; in each case nothing has changed. The values are copied. A ctx that ends after the engine has begun does not undo it.
	Commit(ctx context.Context, t Txn) (Revision, error)
	// Watch calls f, in revision order, for every batch that touches the namespace
	// and prefix, starting after revision `after` (0 = only what comes from now on).
	// It returns when ctx ends or f returns an error; ErrCompacted when `after` is
	// older than the history that is kept.
	Watch(ctx context.Context, ns, prefix string, after Revision, f func(Batch) error) error
	// Revision is that of the newest committed transaction.
	Revision() Revision
	Close() error
}

// The errors that callers act on; engines wrap them.
var (
	ErrNotFound  = errors.New("datastore: key not found")
	ErrConflict  = errors.New("datastore: a compare of the transaction did not hold")
	ErrCompacted = errors.New("datastore: the revision asked for is no longer kept")
	ErrDamaged   = errors.New("datastore: the store on disk is damaged")
	ErrClosed    = errors.New("datastore: closed")
	ErrTooBig    = errors.New("datastore: the transaction is larger than the engine allows")
	ErrFull      = errors.New("datastore: the disk has no room left")
	ErrMoved     = errors.New("datastore: its directory is gone")
	ErrInvalid   = errors.New("datastore: not a usable namespace or key")
	ErrLocked    = errors.New("datastore: in use by another process")
)

// Get reads one key outside a larger view.
func Get(ctx context.Context, s Store, ns, key string) (Entry, error) {
	var e Entry
	err := s.View(ctx, func(sn Snapshot) (err error) { e, err = sn.Get(ns, key); return })
	return e, err
}
