package projection

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"ctl.internal/host/internal/datastore"
)

// The transactions kept for watches.
const (
	DefaultHistory = 4096
	maxHistorySize = 32 << 20 // bytes; large writes keep fewer transactions
)

// State is the store at one revision. It never changes: a commit makes another one that
// shares what is the same.
type State struct {
	rev     datastore.Revision
	tree    *iradix.Tree[*datastore.Entry] // by Join of namespace and key
	history int
	first   datastore.Revision // log holds every transaction after it
	log     []datastore.Batch
	logSize int
	change  change // the staged one in force
}

var _ datastore.Snapshot = (*State)(nil)

// Empty is the state of a new store that keeps history transactions; 0 = DefaultHistory.
func Empty(history int) *State {
	if history <= 0 {
		history = DefaultHistory
	}
	return &State{
		tree:    iradix.New[*datastore.Entry](),
		history: history,
		change:  noChange(),
	}
}

// Apply returns the state after b, which has a later revision. A staged change that b
// switches to is part of it.
func (st *State) Apply(b datastore.Batch) *State {
	b, change := st.completeStaged(b)
	t := st.tree.Txn()
	applyEventsToTree(t, b.Events)
	next := &State{
		rev:     b.Revision,
		tree:    t.Commit(),
		history: st.history,
		first:   st.first,
		logSize: st.logSize,
		change:  change,
	}
	// Appending beyond the length that older states see does not disturb them.
	next.log = st.log
	next.keepBatch(b)
	return next
}

func (st *State) keepBatch(b datastore.Batch) {
	st.log = append(st.log, b)
	st.logSize += batchSize(b)
	for len(st.log) > st.history || (len(st.log) > 1 && st.logSize > maxHistorySize) {
		st.logSize -= batchSize(st.log[0])
		st.first = st.log[0].Revision
		st.log = st.log[1:]
	}
}

// batchSize estimates the bytes that a batch takes.
func batchSize(b datastore.Batch) int {
	n := 32 + len(b.By)
	for _, e := range b.Events {
		n += len(e.Namespace) + len(e.Key) + len(e.Value) + 64
	}
	return n
}

// batchesSince returns the kept batches after a revision, ErrCompacted when some are gone.
func (st *State) batchesSince(after datastore.Revision) ([]datastore.Batch, error) {
	if after >= st.rev {
		return nil, nil
	}
	if after < st.first {
		return nil, datastore.ErrCompacted
	}
	return st.log[st.batchIndex(after+1):], nil
}

// batchIndex is the place of the first kept batch at or after a revision.
func (st *State) batchIndex(rev datastore.Revision) int {
	i, _ := slices.BinarySearchFunc(st.log, rev, func(b datastore.Batch, rev datastore.Revision) int {
		return cmp.Compare(b.Revision, rev)
	})
	return i
}

func (st *State) findEntry(ns, key string) *datastore.Entry {
	e, _ := st.tree.Get([]byte(Join(ns, key)))
	return e
}

func copyEntry(e *datastore.Entry) datastore.Entry {
	out := *e
	out.Value = append(make([]byte, 0, len(e.Value)), e.Value...)
	return out
}

// Revision of the state.
func (st *State) Revision() datastore.Revision { return st.rev }

// Get reads one key.
func (st *State) Get(ns, key string) (datastore.Entry, error) {
	if err := CheckKey(ns, key, false); err != nil {
		return datastore.Entry{}, err
	}
	if e := st.findEntry(ns, key); e != nil {
		return copyEntry(e), nil
	}
	return datastore.Entry{}, fmt.Errorf("%w: %q in namespace %q", datastore.ErrNotFound, key, ns)
}

// entriesFrom yields what is at or above a joined key and begins with prefix, in order.
func (st *State) entriesFrom(start, prefix string) iter.Seq2[[]byte, *datastore.Entry] {
	return func(yield func([]byte, *datastore.Entry) bool) {
		it := st.tree.Root().Iterator()
		within := start == prefix // no key needs to be looked at
		if within {
			it.SeekPrefix([]byte(prefix))
		} else {
			it.SeekLowerBound([]byte(start))
		}
		for k, e, ok := it.Next(); ok && (within || bytes.HasPrefix(k, []byte(prefix))); k, e, ok = it.Next() {
			if !yield(k, e) {
				return
			}
		}
	}
}

// Range yields the entries of a namespace in order.
func (st *State) Range(ns string, o datastore.RangeOptions) iter.Seq2[datastore.Entry, error] {
	return func(yield func(datastore.Entry, error) bool) {
		if err := CheckKey(ns, o.Prefix, true); err != nil {
			yield(datastore.Entry{}, err)
			return
		}
		prefix := Join(ns, o.Prefix)
		start := prefix
		after := Join(ns, o.After) + "\x00"
		if o.After != "" && after > start {
			start = after // the smallest key above o.After
		}
		left := o.Limit
		for _, e := range st.entriesFrom(start, prefix) {
			out := *e
			if !o.Shared {
				out = copyEntry(e)
			}
			if !yield(out, nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// Namespaces yields the namespaces in order, but not that of staged changes.
func (st *State) Namespaces() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for next, more := "", true; more; {
			more = false
			for k := range st.entriesFrom(next, "") {
				ns, _ := Split(string(k))
				if ns != Staged && !yield(ns, nil) {
					return
				}
				next, more = ns+"\x01", true // above every key of the namespace, below those of the next one
				break
			}
		}
	}
}

// Writer says who wrote a key last, as far as the kept transactions know. An absent key
// was written by who deleted it.
func (st *State) Writer(ns, key string) (b datastore.Batch, ok bool) {
	if e := st.findEntry(ns, key); e != nil {
		i := st.batchIndex(e.Revision)
		if i < len(st.log) && st.log[i].Revision == e.Revision {
			return st.log[i], true
		}
		return b, false
	}
	for _, b := range slices.Backward(st.log) {
		for _, e := range b.Events {
			if e.Namespace == ns && e.Key == key {
				return b, true
			}
		}
	}
	return b, false
}

// filterBatch keeps the events under the prefixes; ok is false if no event is under them.
func filterBatch(b datastore.Batch, prefixes []datastore.Prefix) (out datastore.Batch, ok bool) {
	out = datastore.Batch{
		Revision: b.Revision,
		By:       b.By,
		At:       b.At,
	}
	for _, e := range b.Events {
		for _, p := range prefixes {
			if e.Namespace == p.Namespace && strings.HasPrefix(e.Key, p.Key) {
				out.Events = append(out.Events, e)
				break
			}
		}
	}
	return out, len(out.Events) > 0
}

// Loader builds a state that is read from an engine.
type Loader struct {
	st  *State
	txn *iradix.Txn[*datastore.Entry]
}

// NewLoader begins with nothing; history as for Empty.
func NewLoader(history int) *Loader {
	st := Empty(history)
	return &Loader{st, st.tree.Txn()}
}

// Put adds an entry; the loader keeps the value.
func (l *Loader) Put(ns string, e datastore.Entry) {
	l.txn.Insert([]byte(Join(ns, e.Key)), &e)
}

// Log adds a transaction that is kept for watches, in the order of revisions. One that
// switches to a staged change is not kept, nor is what was before it: the change may be
// gone from the engine by now.
func (l *Loader) Log(b datastore.Batch) {
	if _, ok := switchOf(b.Events); ok {
		l.st.log, l.st.logSize, l.st.first = nil, 0, b.Revision
		return
	}
	if len(l.st.log) == 0 {
		l.st.first = b.Revision - 1
	}
	l.st.keepBatch(b)
}

// State ends the load at a revision.
func (l *Loader) State(rev datastore.Revision) *State {
	l.st.tree, l.st.rev = l.txn.Commit(), rev
	l.st.resumeStaged()
	if len(l.st.log) == 0 {
		l.st.first = rev
	}
	return l.st
}

// Peek is Get without a copy: the value must not be changed.
func (st *State) Peek(ns, key string) (datastore.Entry, bool) {
	if e := st.findEntry(ns, key); e != nil {
		return *e, true
	}
	return datastore.Entry{}, false
}
