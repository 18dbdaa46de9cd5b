package host

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Space says which keys are meant.
type Space = pluginv1.Space

// The spaces: the plugin's own durable keys; the operational documents it
// publishes, gone when the controller stops; the configuration of its modules,
// which it reads and watches only.
const (
	Private     = pluginv1.Space_SPACE_PRIVATE
	Operational = pluginv1.Space_SPACE_OPERATIONAL
	Config      = pluginv1.Space_SPACE_CONFIG
)

// Entry is a key with its value and the revision that wrote it.
type Entry struct {
	Key      string
	Value    []byte
	Revision uint64
}

// Datastore keeps what a plugin must not lose.
type Datastore struct{ rpc pluginv1.HostDatastoreClient }

func newDatastore(c grpc.ClientConnInterface) *Datastore {
	return &Datastore{pluginv1.NewHostDatastoreClient(c)}
}

// Get returns the entry of a key; a fault.NotFound when there is none.
func (d *Datastore) Get(ctx context.Context, s Space, key string) (Entry, error) {
	r, err := d.rpc.Get(ctx, &pluginv1.GetRequest{Space: s, Key: key})
	if err != nil {
		return Entry{}, fault.FromStatus(err)
	}
	if r.Entry == nil {
		return Entry{}, fault.New(fault.NotFound, "no key %q", key)
	}
	return entry(r.Entry), nil
}

// Range yields the entries whose keys begin with prefix, in ascending order, all of
// one snapshot. An error is yielded last, with a zero Entry.
func (d *Datastore) Range(ctx context.Context, s Space, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := d.rpc.Range(ctx, &pluginv1.RangeRequest{Space: s, Prefix: prefix})
		for err == nil {
			var r *pluginv1.RangeResponse
			if r, err = stream.Recv(); err != nil {
				break
			}
			for _, e := range r.Entries {
				if !yield(entry(e), nil) {
					return
				}
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(Entry{}, fault.FromStatus(err))
		}
	}
}

// Txn is all or nothing under one revision.
type Txn struct {
	Compares []Compare
	Ops      []Op
	Volatile bool // may be answered before the disk has it
}

// Compare holds when the key's revision is this one; 0 = the key must not exist.
type Compare struct {
	Key      string
	Revision uint64
}

// Op is one write.
type Op struct {
	Key          string
	Value        []byte
	Delete       bool
	DeletePrefix bool // Key is a prefix
}

// commitTime bounds a transaction that has begun.
const commitTime = 30 * time.Second

// Commit applies a transaction. It fails with fault.InUse when a compare did not
// hold; nothing was written then. It does not begin when ctx has ended, and is not
// given up when ctx ends later: it may be written by then, and who keeps in memory
// what is kept here must know. Trouble on the way, behind which a transaction without
// compares is found written, is a success, with revision 0.
func (d *Datastore) Commit(ctx context.Context, s Space, t Txn) (revision uint64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, fault.FromStatus(status.FromContextError(err).Err())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	req := &pluginv1.CommitRequest{Space: s, Volatile: t.Volatile}
	for _, c := range t.Compares {
		req.Compares = append(req.Compares, &pluginv1.Compare{Key: c.Key, Revision: c.Revision})
	}
	for _, o := range t.Ops {
		req.Ops = append(req.Ops, &pluginv1.Op{Key: o.Key, Value: o.Value, Delete: o.Delete, DeletePrefix: o.DeletePrefix})
	}
	r, err := d.rpc.Commit(ctx, req)
	if err != nil {
		err = fault.FromStatus(err)
		if s == Private && len(t.Compares) == 0 && unclear(err) && d.written(ctx, t.Ops) {
			return 0, nil
		}
		return 0, err
	}
	if r.Conflict {
		return 0, fault.New(fault.InUse, "the data changed meanwhile; read it again and repeat")
	}
	return r.Revision, nil
}

// unclear reports whether a transaction may be written in spite of the error.
func unclear(err error) bool {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Timeout, fault.Internal:
		return true
	}
	return false
}

// written reports whether the keys are as the writes make them.
func (d *Datastore) written(ctx context.Context, ops []Op) bool {
	for i, o := range ops {
		if o.DeletePrefix {
			for e, err := range d.Range(ctx, Private, o.Key) {
				if err != nil || !slices.ContainsFunc(ops[i+1:], func(p Op) bool { return p.Key == e.Key }) {
					return false
				}
			}
			continue
		}
		if slices.ContainsFunc(ops[i+1:], func(p Op) bool { return p.Key == o.Key || p.DeletePrefix && strings.HasPrefix(o.Key, p.Key) }) {
			continue // a later one counts
		}
		e, err := d.Get(ctx, Private, o.Key)
		switch {
		case o.Delete && fault.KindOf(err) == fault.NotFound && err != nil:
		case o.Delete || err != nil || !bytes.Equal(e.Value, o.Value):
			return false
		}
	}
	return true
}

// Put writes one key.
func (d *Datastore) Put(ctx context.Context, s Space, key string, value []byte) error {
	_, err := d.Commit(ctx, s, Txn{Ops: []Op{{Key: key, Value: value}}})
	return err
}

// Delete removes one key; an absent key is no error.
func (d *Datastore) Delete(ctx context.Context, s Space, key string) error {
	_, err := d.Commit(ctx, s, Txn{Ops: []Op{{Key: key, Delete: true}}})
	return err
}

// Batch is the changes of one transaction.
type Batch struct {
	Revision uint64
	Events   []Event
}

// Event is one change of a key.
type Event struct {
	Entry
	Deleted bool
}

// Watch calls f for each transaction after a revision (0 = from now on) that
// touches the prefix, until ctx ends or f fails.
func (d *Datastore) Watch(ctx context.Context, s Space, prefix string, after uint64, f func(Batch) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := d.rpc.Watch(ctx, &pluginv1.WatchRequest{Space: s, Prefix: prefix, After: after})
	if err != nil {
		return fault.FromStatus(err)
	}
	for {
		r, err := stream.Recv()
		if err != nil {
			return fault.FromStatus(err)
		}
		b := Batch{Revision: r.Revision}
		for _, e := range r.Events {
			b.Events = append(b.Events, Event{Entry: entry(e.Entry), Deleted: e.Deleted})
		}
		if err := f(b); err != nil {
			return err
		}
	}
}

func entry(e *pluginv1.Entry) Entry {
	return Entry{Key: e.GetKey(), Value: e.GetValue(), Revision: e.GetRevision()}
}
