package projection

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"iter"
	"slices"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"ctl.internal/host/internal/datastore"
)

// Staged is the namespace of changes that are too large for one transaction of an engine.
// Below it are the parts of such a change, which nobody sees, and one key that says which
// of them is in force: the transaction that writes this key is the change. From then on
// every projection has the whole change, at the revision of that transaction. What the
// engine itself has follows in transactions of its size; package large makes them.
const Staged = "staged"

// SwitchKey is the key in namespace Staged whose value is the id of the change in force
// that the engine has not written whole.
const SwitchKey = "switch"

// PartKey is the key of a part of a change.
func PartKey(id string, part int) string {
	return fmt.Sprintf("%s/%06d", id, part)
}

// EncodePart writes operations as a part.
func EncodePart(ops []datastore.Op) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(ops)
	return b.Bytes(), err
}

// switchOf returns the id of the change that events switch to.
func switchOf(events []datastore.Event) (id string, ok bool) {
	i := slices.IndexFunc(events, func(e datastore.Event) bool {
		return e.Namespace == Staged && e.Key == SwitchKey && !e.Deleted
	})
	if i < 0 {
		return "", false
	}
	return string(events[i].Value), true
}

// StagedOps returns the operations of a change whose parts are all there.
func (st *State) StagedOps(id string) (ops []datastore.Op, err error) {
	prefix := Join(Staged, id+"/")
	for _, e := range st.entriesFrom(prefix, prefix) {
		var part []datastore.Op
		if err := gob.NewDecoder(bytes.NewReader(e.Value)).Decode(&part); err != nil {
			return nil, fmt.Errorf("%w: a part of a staged change: %w", datastore.ErrDamaged, err)
		}
		ops = append(ops, part...)
	}
	return ops, nil
}

// change is a staged change in force, which the engine has not written whole.
type change struct {
	keys      *iradix.Tree[*datastore.Entry] // all that it changes
	unwritten *iradix.Tree[*datastore.Entry] // those that the engine still has as they were: with that, nil for nothing
}

func noChange() change {
	none := iradix.New[*datastore.Entry]()
	return change{none, none}
}

// completeStaged completes a batch: with the events of the change that it switches to, and without
// deletions of what is gone already. It returns the change in force after it, too.
func (st *State) completeStaged(b datastore.Batch) (datastore.Batch, change) {
	if id, ok := switchOf(b.Events); ok {
		events, c := st.inForce(id, b.Revision)
		b.Events = append(slices.Clip(b.Events), events...)
		return b, c
	}
	if st.change.keys.Len() == 0 {
		return b, st.change
	}
	t := st.change.unwritten.Txn()
	var events []datastore.Event
	for _, e := range b.Events {
		if e.Namespace == Staged && e.Key == SwitchKey {
			return b, noChange()
		}
		_, late := t.Delete([]byte(Join(e.Namespace, e.Key)))
		if late && e.Deleted {
			continue
		}
		e.Same = late
		events = append(events, e)
	}
	b.Events = events
	return b, change{st.change.keys, t.Commit()}
}

// inForce returns what a staged change of a revision changes in the state. The engine has
// written what is newer than the change.
func (st *State) inForce(id string, rev datastore.Revision) ([]datastore.Event, change) {
	ops, err := st.StagedOps(id)
	if err != nil { // cannot be: who switched has read them
		return nil, noChange()
	}
	none := noChange()
	keys, unwritten := none.keys.Txn(), none.unwritten.Txn()
	var events []datastore.Event
	for _, e := range st.Net(ops, rev) {
		old := st.findEntry(e.Namespace, e.Key)
		if old == nil && e.Deleted {
			continue
		}
		joined := []byte(Join(e.Namespace, e.Key))
		keys.Insert(joined, nil)
		if old == nil || old.Revision <= rev {
			unwritten.Insert(joined, old)
			events = append(events, e)
		}
	}
	return events, change{keys.Commit(), unwritten.Commit()}
}

// resumeStaged puts the change in force into a state that was loaded from an engine.
func (st *State) resumeStaged() {
	st.change = noChange()
	e := st.findEntry(Staged, SwitchKey)
	if e == nil {
		return
	}
	var events []datastore.Event
	events, st.change = st.inForce(string(e.Value), e.Revision)
	t := st.tree.Txn()
	applyEventsToTree(t, events)
	st.tree = t.Commit()
}

// applyEventsToTree brings entries up to date with events.
func applyEventsToTree(t *iradix.Txn[*datastore.Entry], events []datastore.Event) {
	for _, e := range events {
		key := []byte(Join(e.Namespace, e.Key))
		if e.Deleted {
			t.Delete(key)
		} else {
			t.Insert(key, &datastore.Entry{
				Key:      e.Key,
				Value:    e.Value,
				Revision: e.Revision,
			})
		}
	}
}

// Stored is what the engine has of a key, nil if nothing; it differs from the state only
// where a staged change is not written yet. Conditions of transactions are about it.
func (st *State) Stored(ns, key string) *datastore.Entry {
	if st.change.unwritten.Len() > 0 {
		if e, ok := st.change.unwritten.Get([]byte(Join(ns, key))); ok {
			return e
		}
	}
	return st.findEntry(ns, key)
}

// Unwritten is a key that a staged change has changed and the engine has not written.
type Unwritten struct {
	Namespace, Key string
	Stored         datastore.Revision // what the engine has; 0 = nothing
	Value          []byte
	Deleted        bool
}

// Unwritten yields them in the order of keys.
func (st *State) Unwritten() iter.Seq[Unwritten] {
	return func(yield func(Unwritten) bool) {
		it := st.change.unwritten.Root().Iterator()
		for k, old, ok := it.Next(); ok; k, old, ok = it.Next() {
			ns, key := Split(string(k))
			u := Unwritten{
				Namespace: ns,
				Key:       key,
				Deleted:   true,
			}
			if old != nil {
				u.Stored = old.Revision
			}
			if now := st.findEntry(ns, key); now != nil {
				u.Value, u.Deleted = now.Value, false
			}
			if !yield(u) {
				return
			}
		}
	}
}

// Meets reports whether a transaction reads or writes a key of the change in force.
func (st *State) Meets(t datastore.Txn) bool {
	if st.change.keys.Len() == 0 {
		return false
	}
	meets := func(ns, key string, prefix bool) bool {
		joined := []byte(Join(ns, key))
		if !prefix {
			_, ok := st.change.keys.Get(joined)
			return ok
		}
		it := st.change.keys.Root().Iterator()
		it.SeekPrefix(joined)
		_, _, ok := it.Next()
		return ok
	}
	return slices.ContainsFunc(t.Compares, func(c datastore.Compare) bool {
		return meets(c.Namespace, c.Key, c.Prefix)
	}) ||
		slices.ContainsFunc(t.Ops, func(o datastore.Op) bool {
			return meets(o.Namespace, o.Key, o.DeletePrefix)
		})
}
