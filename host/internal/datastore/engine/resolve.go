package engine

import (
	"bytes"
	"iter"
	"strings"

	"ctl.internal/host/internal/datastore"
)

// View is the state that a transaction is applied to.
type View interface {
	// Revision returns 0 for an absent key.
	Revision(ns, key string) (datastore.Revision, error)
	// Keys yields the keys with a prefix in ascending order.
	Keys(ns, prefix string) iter.Seq2[string, error]
}

// Resolve works out what a transaction does to a state: ErrConflict when a
// compare does not hold, else the net change of each key it touches, in the
// order of first touch. Deleting what is not there is no change; a batch
// without events needs no revision.
func Resolve(v View, t datastore.Txn, rev datastore.Revision) (datastore.Batch, error) {
	none := datastore.Batch{}
	if err := CheckTxn(t); err != nil {
		return none, err
	}
	for i, c := range t.Compares {
		if err := compare(v, i, c); err != nil {
			return none, err
		}
	}
	p := pending{rev: rev, index: map[string]int{}}
	for _, o := range t.Ops {
		if err := p.apply(v, o); err != nil {
			return none, err
		}
	}
	return p.batch(v)
}

func compare(v View, i int, c datastore.Compare) error {
	if !c.Prefix {
		have, err := v.Revision(c.Namespace, c.Key)
		if err == nil && have != c.Revision {
			err = &datastore.ConflictError{Index: i, Namespace: c.Namespace, Key: c.Key, Revision: have}
		}
		return err
	}
	for key, err := range v.Keys(c.Namespace, c.Key) {
		if err != nil {
			return err
		}
		have, err := v.Revision(c.Namespace, key)
		if err != nil {
			return err
		}
		if have > c.Revision {
			return &datastore.ConflictError{Index: i, Namespace: c.Namespace, Key: key, Revision: have}
		}
	}
	return nil
}

// pending is the net effect of the ops so far.
type pending struct {
	rev    datastore.Revision
	events []datastore.Event
	index  map[string]int // joined key → place in events
}

func (p *pending) apply(v View, o datastore.Op) error {
	switch {
	case o.DeletePrefix:
		for key, err := range v.Keys(o.Namespace, o.Key) {
			if err != nil {
				return err
			}
			p.set(o.Namespace, key, nil, true)
		}
		// Keys that this very transaction put before are not in the view yet.
		prefix := Join(o.Namespace, o.Key)
		for joined, i := range p.index {
			if len(joined) >= len(prefix) && joined[:len(prefix)] == prefix {
				p.events[i].Deleted, p.events[i].Value = true, nil
			}
		}
	case o.Delete:
		p.set(o.Namespace, o.Key, nil, true)
	default:
		p.set(o.Namespace, o.Key, o.Value, false)
	}
	return nil
}

func (p *pending) set(ns, key string, value []byte, deleted bool) {
	e := datastore.Event{Namespace: ns, Deleted: deleted}
	e.Key, e.Revision = key, p.rev
	if !deleted {
		e.Value = append([]byte{}, value...)
	}
	joined := Join(ns, key)
	if i, ok := p.index[joined]; ok {
		p.events[i] = e
		return
	}
	p.index[joined] = len(p.events)
	p.events = append(p.events, e)
}

// batch drops the deletions of keys that were never there.
func (p *pending) batch(v View) (datastore.Batch, error) {
	b := datastore.Batch{Revision: p.rev}
	for _, e := range p.events {
		if e.Deleted {
			have, err := v.Revision(e.Namespace, e.Key)
			if err != nil {
				return datastore.Batch{}, err
			}
			if have == 0 {
				continue
			}
		}
		b.Events = append(b.Events, e)
	}
	return b, nil
}

// Size estimates the bytes a batch takes, for bounds and for trimming.
func Size(b datastore.Batch) int {
	n := 0
	for _, e := range b.Events {
		n += len(e.Namespace) + len(e.Key) + len(e.Value) + 32
	}
	return n
}

// Filter keeps the events under the prefixes; ok is false when there is none.
func Filter(b datastore.Batch, prefixes []datastore.Prefix) (out datastore.Batch, ok bool) {
	out = datastore.Batch{Revision: b.Revision, By: b.By, At: b.At}
	for _, e := range b.Events {
		for _, p := range prefixes {
			if e.Namespace == p.Namespace && strings.HasPrefix(e.Key, p.Key) {
				e.Value = bytes.Clone(e.Value)
				out.Events = append(out.Events, e)
				break
			}
		}
	}
	return out, len(out.Events) > 0
}
