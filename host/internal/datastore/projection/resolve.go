package projection

import (
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
)

// Resolve works out what a transaction does to the state under revision rev: a
// *ConflictError when a compare does not hold, else the net change of each key that it
// touches, in the order of first touch. Deleting what does not exist is no change; a
// batch without events needs no revision.
func (st *State) Resolve(
	t datastore.Txn,
	rev datastore.Revision,
	at time.Time,
) (datastore.Batch, error) {
	b := datastore.Batch{Revision: rev, By: t.By, At: at}
	if err := CheckTxn(t); err != nil {
		return b, err
	}
	for i, c := range t.Compares {
		if key, have, ok := st.checkCompare(c); !ok {
			return b, st.Conflict(i, c.Namespace, key, have)
		}
	}
	for _, e := range st.Net(t.Ops, rev) {
		if !e.Deleted || st.Stored(e.Namespace, e.Key) != nil {
			b.Events = append(b.Events, e)
		}
	}
	return b, nil
}

// Conflict is the error for a compare that met a key at a revision; it names the writer.
func (st *State) Conflict(i int, ns, key string, have datastore.Revision) error {
	e := &datastore.ConflictError{
		Index:     i,
		Namespace: ns,
		Key:       key,
		Revision:  have,
	}
	b, ok := st.Writer(ns, key)
	if ok && (have == 0 || have == b.Revision) {
		e.By, e.At = b.By, b.At
	}
	return e
}

// checkCompare reports whether a compare holds, or else which key is in its way.
func (st *State) checkCompare(c datastore.Compare) (key string, have datastore.Revision, ok bool) {
	if !c.Prefix {
		if e := st.Stored(c.Namespace, c.Key); e != nil {
			have = e.Revision
		}
		return c.Key, have, have == c.Revision
	}
	batches, err := st.batchesSince(c.Revision)
	if err == nil { // few transactions, where there may be many keys
		for _, b := range batches {
			for _, e := range b.Events {
				if e.Namespace != c.Namespace || !strings.HasPrefix(e.Key, c.Key) {
					continue
				}
				now := st.findEntry(e.Namespace, e.Key)
				if now != nil && now.Revision > c.Revision {
					return e.Key, now.Revision, false
				}
			}
		}
		return "", 0, true
	}
	prefix := Join(c.Namespace, c.Key)
	for _, e := range st.entriesFrom(prefix, prefix) {
		if e.Revision > c.Revision {
			return e.Key, e.Revision, false
		}
	}
	return "", 0, true
}

// Net is the net effect of ops on each key that they touch, in the order of first touch.
// Deletions of keys that do not exist are among them.
func (st *State) Net(ops []datastore.Op, rev datastore.Revision) []datastore.Event {
	n := net{rev: rev, index: map[string]int{}}
	for _, o := range ops {
		switch {
		case o.DeletePrefix:
			prefix := Join(o.Namespace, o.Key)
			for _, e := range st.entriesFrom(prefix, prefix) {
				n.setEvent(o.Namespace, e.Key, nil, true)
			}
			for joined, i := range n.index { // keys that an earlier op put are not in the state
				if strings.HasPrefix(joined, prefix) {
					n.events[i].Deleted, n.events[i].Value = true, nil
				}
			}
		case o.Delete:
			n.setEvent(o.Namespace, o.Key, nil, true)
		default:
			n.setEvent(o.Namespace, o.Key, o.Value, false)
		}
	}
	for i := range n.events {
		e := &n.events[i]
		e.Created = !e.Deleted && st.findEntry(e.Namespace, e.Key) == nil
	}
	return n.events
}

type net struct {
	rev    datastore.Revision
	events []datastore.Event
	index  map[string]int // joined key → place in events
}

func (n *net) setEvent(ns, key string, value []byte, deleted bool) {
	e := datastore.Event{
		Namespace: ns,
		Deleted:   deleted,
		Entry:     datastore.Entry{Key: key, Revision: n.rev},
	}
	if !deleted {
		e.Value = append([]byte{}, value...)
	}
	joined := Join(ns, key)
	if i, ok := n.index[joined]; ok {
		n.events[i] = e
		return
	}
	n.index[joined] = len(n.events)
	n.events = append(n.events, e)
}
