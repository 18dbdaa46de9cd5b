// Package datastore is the one place where the controller keeps what it must
// not lose: namespaces of keys with revisions, multi-key transactions with
// compares, ordered ranges and watches that can be resumed.
//
// Engines (badger, etcd, memory) share package projection and pass one conformance
// suite in datastore/conformance. What the bytes mean is the business of the rooms above:
// identities (aaa), RESTCONF trees (restconf), features (feature).
package datastore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Revision orders every committed transaction of a store; the first is 1.
type Revision uint64

// Entry is one key with its value as of the transaction that wrote it.
type Entry struct {
	Key      string
	Value    []byte
	Revision Revision // of the last transaction that wrote the key
}

// Compare is a condition of a transaction: the key's revision now; revision 0 says
// that the key must not exist. With Prefix no key that begins with Key was written
// after Revision; a deletion below the prefix does not break it, so a decision that
// needs a key to stay compares that key, too.
type Compare struct {
	Namespace, Key string
	Revision       Revision
	Prefix         bool
}

// Prefix is a range of keys of one namespace; an empty Key is the whole namespace.
type Prefix struct{ Namespace, Key string }

// Op is one write of a transaction. A nil Value with Delete false is a put of an
// empty value. DeletePrefix deletes every key that begins with Key.
type Op struct {
	Namespace, Key string
	Value          []byte
	Delete         bool
	DeletePrefix   bool
	// Lease deletes a put key when the lease ends; 0 = none. Only engines that are
	// Leases take it.
	Lease int64
}

// Put returns an Op that writes a value.
func Put(ns, key string, value []byte) Op {
	return Op{Namespace: ns, Key: key, Value: value}
}

// Delete returns an Op that removes a key; an absent key is no error.
func Delete(ns, key string) Op {
	return Op{Namespace: ns, Key: key, Delete: true}
}

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
	// By is who asked for the change, for whoever loses a conflict against it.
	By string
}

// Event is one change of one key.
type Event struct {
	Namespace string
	Entry
	Deleted bool
	// Same says that only the revision is new: the value was in force already.
	Same    bool
	Created bool // the key did not exist before; not known of transactions that older releases stored
}

// Batch is the net changes of one transaction, one event a key in the order of
// first touch, as a watch delivers them.
//
// A batch without events reports progress: everything up to Revision is delivered.
// The values are the projection's own and must not be changed.
type Batch struct {
	Revision Revision
	Events   []Event
	By       string    // of the transaction; empty when it said nothing
	At       time.Time // of the commit, by the clock of the node that made it; zero when not known
}

// RangeOptions bounds a range.
type RangeOptions struct {
	Prefix string
	After  string // exclusive start, for paging; empty = from the beginning of Prefix
	Limit  int    // 0 = all
	Shared bool   // the values are the projection's own and must not be changed
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

// Store is a datastore engine. It is safe for concurrent use. Every process reads
// from a projection in memory that follows the engine's log.
type Store interface {
	// View runs f on a consistent snapshot that holds every transaction acknowledged
	// anywhere before the call. It fails with a fault of kind Unavailable when the
	// engine cannot say what the newest revision is.
	View(ctx context.Context, f func(Snapshot) error) error
	// Local runs f on the projection as it is, which an engine without its cluster
	// still has. Age is how long ago the projection was known to be complete.
	Local(f func(Snapshot) error) (age time.Duration, err error)
	// Commit applies t and returns its revision, which the projection of this process
	// then has. It fails with a *ConflictError if a compare did not hold, ErrTooBig when
	// it does not fit, ErrFull when the disk has no room, ErrMoved when the store is no
	// longer where it was opened; in each case nothing has changed. A fault of kind
	// Timeout says that it is not known whether it was applied. The values are copied.
	// A ctx that ends after the engine has begun does not undo it.
	Commit(ctx context.Context, t Txn) (Revision, error)
	// Watch calls f, in revision order, for every batch that touches one of the
	// prefixes, reduced to those events, starting after revision `after` (Revision() = only
	// what comes from now on), and for progress. It returns when ctx ends or f returns an
	// error; ErrCompacted when `after` is older than the history that is kept.
	Watch(ctx context.Context, after Revision, prefixes []Prefix, f func(Batch) error) error
	// Barrier waits until the projection holds every transaction acknowledged anywhere
	// before the call, and returns its revision.
	Barrier(ctx context.Context) (Revision, error)
	// Revision is that of the projection. It never waits.
	Revision() Revision
	Close() error
}

// Leases are engines whose keys can end with the process that put them.
type Leases interface {
	// Grant makes a lease that ends when it is not renewed for ttl.
	Grant(ctx context.Context, ttl time.Duration) (lease int64, err error)
	// Renew returns how long the lease lives from the call on.
	Renew(ctx context.Context, lease int64) (ttl time.Duration, err error)
	// Revoke ends the lease and deletes its keys.
	Revoke(ctx context.Context, lease int64) error
}

// Failing are engines that cannot go on after a disk has failed.
type Failing interface {
	// Failed is why nothing is written until the controller is restarted; nil = it is.
	Failed() error
}

// Clustered are engines whose data is on the members of a cluster.
type Clustered interface {
	// Members asks each member that the settings name how it is.
	Members(ctx context.Context) []Member
}

// Member is one of a cluster.
type Member struct {
	Endpoint string
	Err      error // why it does not answer; nil = it does
	Led      bool  // it knows a leader, so it is with the majority
	Leads    bool
	Watched  bool // this process follows the cluster there
	Version  string
	Note     string // what is wrong with how it was started; empty = nothing
}

// Back says that the cluster of an engine was set back to an older state, and that this
// process has read it again. Revisions after it are larger than all before.
type Back struct {
	At       time.Time
	From, To Revision // the newest before, and that of what was read
}

// ConflictError says which compare of a transaction did not hold, and who wrote the
// key when. It is an ErrConflict.
type ConflictError struct {
	Index          int // in Txn.Compares
	Namespace, Key string
	Revision       Revision  // what the key has now; 0 = it does not exist
	By             string    // who wrote that; empty when not known
	At             time.Time // zero when not known
	Reason         string    // why it cannot hold; empty when somebody wrote the key
}

// Error names the key, its revision and its writer.
func (e *ConflictError) Error() string {
	s := fmt.Sprintf(
		"%v: key %q in namespace %q is at revision %d",
		ErrConflict,
		e.Key,
		e.Namespace,
		e.Revision,
	)
	if e.By != "" {
		s += ", written by " + e.By
	}
	if !e.At.IsZero() {
		s += " at " + e.At.UTC().Format(time.RFC3339)
	}
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	return s
}

// Is reports whether target is ErrConflict.
func (e *ConflictError) Is(target error) bool {
	return target == ErrConflict
}

// The errors that callers act on; engines wrap them.
var (
	ErrNotFound  = errors.New("datastore: key not found")
	ErrConflict  = errors.New("datastore: a condition of the transaction is not true")
	ErrCompacted = errors.New("datastore: the requested revision is no longer stored")
	ErrDamaged   = errors.New("datastore: the store on disk is damaged")
	ErrOlder     = errors.New("datastore: written by an earlier release that this one does not read")
	ErrClosed    = errors.New("datastore: closed")
	ErrTooBig    = errors.New("datastore: the transaction is larger than the engine allows")
	ErrFull      = errors.New("datastore: no space left on the disk")
	ErrDisk      = errors.New("datastore: the disk does not take data")
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
