package host

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Space selects a set of keys.
type Space = pluginv1.Space

// The spaces. Private: the plugin's own durable keys. Operational: documents of the
// trees it publishes, which go when it is uninstalled. Tree: documents of configuration
// trees. Shared: private keys of another plugin that exports them.
const (
	Private     = pluginv1.Space_SPACE_PRIVATE
	Operational = pluginv1.Space_SPACE_OPERATIONAL
	Tree        = pluginv1.Space_SPACE_TREE
	Shared      = pluginv1.Space_SPACE_SHARED
)

// Entry is a key with its value and the revision that wrote it.
type Entry struct {
	Key      string
	Value    []byte
	Revision uint64
}

// Prefix is a range of keys. Plugin is whose keys a Shared prefix means.
type Prefix struct {
	Space  Space
	Plugin string
	Prefix string
}

// Datastore keeps what a plugin must not lose. Plugins that keep their data in memory
// use package state, which follows it.
type Datastore struct{ rpc pluginv1.HostDatastoreClient }

// Get returns the entry of a key; a fault.NotFound if it does not exist. It sees every
// change that was acknowledged, on any node, before the call.
func (d *Datastore) Get(ctx context.Context, s Space, key string) (Entry, error) {
	r, err := d.rpc.Get(ctx, &pluginv1.GetRequest{
		Space: s,
		Key:   key,
	})
	if err != nil {
		return Entry{}, fault.FromStatus(err)
	}
	if r.Entry == nil {
		return Entry{}, fault.New(fault.NotFound, "no key %q", key)
	}
	return entryFromProto(r.Entry), nil
}

// Range yields the entries whose keys begin with prefix, in ascending order, all of
// one snapshot. An error is yielded last, with a zero Entry.
func (d *Datastore) Range(ctx context.Context, s Space, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := forEachMessage(ctx, d.rpc.Range, &pluginv1.RangeRequest{
			Space:  s,
			Prefix: prefix,
		}, func(r *pluginv1.RangeResponse) error {
			for _, e := range r.Entries {
				if !yield(entryFromProto(e), nil) {
					return errEnough
				}
			}
			return nil
		})
		if !errors.Is(err, io.EOF) && !errors.Is(err, errEnough) {
			yield(Entry{}, err)
		}
	}
}

// errEnough ends a stream whose reader wants no more.
var errEnough = errors.New("enough")

// Txn is all or nothing under one revision.
type Txn struct {
	Compares []Compare
	Ops      []Op
	Volatile bool   // may be answered before the disk has it
	Role     string // that this process must hold then; see package state
}

// Proto returns the wire form of the conditions and the writes.
func (t Txn) Proto() (compares []*pluginv1.Compare, ops []*pluginv1.Op) {
	for _, c := range t.Compares {
		compares = append(
			compares,
			&pluginv1.Compare{
				Space:    cmp.Or(c.Space, Private),
				Plugin:   c.Plugin,
				Key:      c.Key,
				Revision: c.Revision,
				Prefix:   c.Prefix,
			},
		)
	}
	for _, o := range t.Ops {
		ops = append(
			ops,
			&pluginv1.Op{
				Space:        cmp.Or(o.Space, Private),
				Key:          o.Key,
				Value:        o.Value,
				Delete:       o.Delete,
				DeletePrefix: o.DeletePrefix,
			},
		)
	}
	return compares, ops
}

// Compare is a condition. Without Prefix the key's revision is Revision (0: it does not
// exist); with it no key that begins with Key was written after Revision.
type Compare struct {
	Space    Space
	Plugin   string // of Shared
	Key      string
	Revision uint64
	Prefix   bool
}

// Op is one write. In Tree and Operational, Key is the path of an instance and Value its
// JSON, lists included (RFC 7951); in Private they are a key and its value.
type Op struct {
	Space        Space // zero = Private
	Key          string
	Value        []byte
	Delete       bool
	DeletePrefix bool // Key is a prefix, of Private only
}

// ConflictError says which condition of a transaction did not hold, and who wrote the
// key, when. Nothing was written. Its fault is of kind InUse.
type ConflictError struct {
	Index    int // in Txn.Compares; -1: a condition that the host added
	Key      string
	Revision uint64    // what the key has now
	By       string    // empty: not known
	At       time.Time // zero: not known
}

// Error says who was first.
func (e *ConflictError) Error() string {
	s := "the data was changed meanwhile"
	if e.By != "" {
		s += " by " + e.By
	}
	if !e.At.IsZero() {
		s += " at " + e.At.UTC().Format(time.RFC3339)
	}
	return s + ": read it again and repeat"
}

// Unwrap gives the error its kind.
func (e *ConflictError) Unwrap() error {
	return fault.New(fault.InUse, "conflict")
}

// commitTime bounds a transaction that has begun.
const commitTime = 30 * time.Second

// Commit applies a transaction and returns its revision; a *ConflictError when a
// condition did not hold, a fault.Denied when the role is not held any more. It does not
// begin when ctx has ended, and is not given up when ctx ends later.
func (d *Datastore) Commit(ctx context.Context, t Txn) (revision uint64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	who, _ := caller.From(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	req := &pluginv1.CommitRequest{
		Volatile: t.Volatile,
		Role:     t.Role,
		By:       who.User,
	}
	req.Compares, req.Ops = t.Proto()
	r, err := d.rpc.Commit(ctx, req)
	if err != nil {
		return 0, fault.FromStatus(err)
	}
	if c := r.Conflict; c != nil {
		e := &ConflictError{
			Index:    int(c.Index),
			Key:      c.Key,
			Revision: c.Revision,
			By:       c.By,
		}
		if c.Time != 0 {
			e.At = time.Unix(0, c.Time)
		}
		return 0, e
	}
	return r.Revision, nil
}

// Put writes one private key.
func (d *Datastore) Put(ctx context.Context, key string, value []byte) error {
	_, err := d.Commit(ctx, Txn{Ops: []Op{{
		Space: Private,
		Key:   key,
		Value: value,
	}}})
	return err
}

// Delete removes one private key; an absent key is no error.
func (d *Datastore) Delete(ctx context.Context, key string) error {
	_, err := d.Commit(ctx, Txn{Ops: []Op{{
		Space:  Private,
		Key:    key,
		Delete: true,
	}}})
	return err
}

// Event is one change of a key. Prefix is the index of the followed prefix it is under.
type Event struct {
	Entry
	Prefix  int
	Deleted bool
}

// Follower takes what Follow sends; its methods are called by one goroutine.
type Follower interface {
	// Reset takes the whole state at a revision; what was known before is void.
	Reset(revision uint64, entries []Event) error
	// Apply takes the changes of one transaction; no events: progress.
	Apply(revision uint64, events []Event) error
}

// Follow sends the state below the prefixes to f, then every change in the order of
// revisions, until ctx ends, f fails or the host goes away.
func (d *Datastore) Follow(ctx context.Context, prefixes []Prefix, f Follower) error {
	req := &pluginv1.FollowRequest{}
	for _, p := range prefixes {
		req.Prefixes = append(
			req.Prefixes,
			&pluginv1.Prefix{
				Space:  p.Space,
				Plugin: p.Plugin,
				Prefix: p.Prefix,
			},
		)
	}
	var state []Event
	return forEachMessage(ctx, d.rpc.Follow, req, func(r *pluginv1.FollowResponse) (err error) {
		switch step := r.Step.(type) {
		case *pluginv1.FollowResponse_Reset_:
			state = nil
		case *pluginv1.FollowResponse_Entries:
			state = append(state, eventsFromProto(step.Entries.Entries)...)
		case *pluginv1.FollowResponse_Synced:
			err, state = f.Reset(step.Synced, state), nil
		case *pluginv1.FollowResponse_Batch:
			err = f.Apply(step.Batch.Revision, eventsFromProto(step.Batch.Events))
		case *pluginv1.FollowResponse_Progress:
			err = f.Apply(step.Progress, nil)
		}
		return err
	})
}

// Barrier returns a revision at or after everything acknowledged, on any node, before
// the call. A follower that has reached it is not stale.
func (d *Datastore) Barrier(ctx context.Context) (uint64, error) {
	r, err := d.rpc.Barrier(ctx, &pluginv1.BarrierRequest{})
	if err != nil {
		return 0, fault.FromStatus(err)
	}
	return r.Revision, nil
}

func eventsFromProto(in []*pluginv1.FollowEntry) []Event {
	out := make([]Event, len(in))
	for i, e := range in {
		out[i] = Event{
			Entry:   entryFromProto(e.Entry),
			Prefix:  int(e.Prefix),
			Deleted: e.Deleted,
		}
	}
	return out
}

func entryFromProto(e *pluginv1.Entry) Entry {
	return Entry{
		Key:      e.GetKey(),
		Value:    e.GetValue(),
		Revision: e.GetRevision(),
	}
}
