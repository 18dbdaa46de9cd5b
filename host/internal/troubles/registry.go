package troubles

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/fault"
)

// Namespace of the datastore: found/NODE/REPORTER/ID has the troubles, mark/ID what people did with them.
const (
	Namespace = "trouble"
	foundKeys = "found/"
	markKeys  = "mark/"
)

// Options of a Registry.
type Options struct {
	Store datastore.Store
	Node  string
	// Living reports whether a node runs: what another one reported is not shown after its end.
	Living func(node string) bool
	Now    func() time.Time
}

// Registry is the list. It is safe for concurrent use.
type Registry struct {
	o       Options
	changed together.Signal

	mu sync.Mutex // is held for moments, never while something is stored
	// mine are the newest lists of this node's reporters by name, which are shown also while the store
	// does not take them.
	mine map[string]*reported
}

// reported is the newest list of one reporter of this node.
type reported struct {
	// writing is held while the list is replaced and stored. Who only reads the list does not take it: a store may
	// take long to answer.
	writing  sync.Mutex
	unstored bool    // under writing: the store has not taken the list
	entries  []Entry // under Registry.mu
}

// New returns the list that a store has.
func New(o Options) *Registry {
	return &Registry{o: o, mine: map[string]*reported{}}
}

// Load takes over the lists that a process before this one stored for this node. Each is shown until its reporter
// replaces it or Maintain ends it; one whose reporter has replaced it already is left as it is.
func (r *Registry) Load() error {
	all, err := r.loadEntries()
	r.mu.Lock()
	for reporter, entries := range all {
		if r.mine[reporter] == nil {
			r.mine[reporter] = &reported{entries: entries}
		}
	}
	r.mu.Unlock()
	r.changed.Fire()
	return err
}

// loadEntries are the stored entries of this node by their reporter.
func (r *Registry) loadEntries() (map[string][]Entry, error) {
	all := map[string][]Entry{}
	prefix := foundKeys + url.PathEscape(r.o.Node) + "/"
	_, err := r.o.Store.Local(func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(Namespace, datastore.RangeOptions{Prefix: prefix}) {
			if err != nil {
				return err
			}
			if one, ok := entryAt(e); ok {
				all[one.Reporter] = append(all[one.Reporter], one)
			}
		}
		return nil
	})
	return all, err
}

// Run makes changes of other nodes known, until ctx ends.
func (r *Registry) Run(ctx context.Context) error {
	return datastore.Changed(ctx, r.o.Store, []datastore.Prefix{{Namespace: Namespace}},
		func(context.Context, *datastore.Batch) error {
			r.changed.Fire()
			return nil
		})
}

// Changed returns a channel that is closed at the next change of the list. Take it before the list.
func (r *Registry) Changed() <-chan struct{} {
	return r.changed.Wait()
}

// listOf is the list of a reporter of this node.
func (r *Registry) listOf(reporter string) *reported {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.mine[reporter]
	if l == nil {
		l = &reported{}
		r.mine[reporter] = l
	}
	return l
}

// reporters are the names of this node's reporters.
func (r *Registry) reporters() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.mine))
}

// shown are the entries of a list as everybody sees them; they do not change.
func (r *Registry) shown(l *reported) []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return l.entries
}

// show replaces the entries that everybody sees.
func (r *Registry) show(l *reported, entries []Entry) {
	r.mu.Lock()
	same := slices.EqualFunc(l.entries, entries, sameEntry)
	l.entries = entries
	r.mu.Unlock()
	if !same {
		r.changed.Fire()
	}
}

// prefixOf is where the troubles of a reporter are.
func prefixOf(node, reporter string) string {
	return foundKeys + url.PathEscape(node) + "/" + url.PathEscape(reporter) + "/"
}

// Report replaces the list of a reporter of this node. A trouble that was there stays since then, and as people
// marked it. The list is shown even where the error says that it was not stored; Maintain stores it then.
func (r *Registry) Report(ctx context.Context, reporter string, all []Trouble) error {
	l := r.listOf(reporter)
	l.writing.Lock()
	defer l.writing.Unlock()
	entries, err := r.entriesOf(r.o.Node, reporter, all, r.shown(l))
	if err != nil {
		return err
	}
	r.show(l, entries)
	err = r.store(ctx, r.o.Node, reporter, entries)
	l.unstored = err != nil
	return err
}

// Maintain ends the lists of the reporters of this node that are over, stores the lists that the store has not taken,
// and deletes the marks that are over. A list that is being written now is left to the next call.
func (r *Registry) Maintain(ctx context.Context, over func(reporter string) bool) error {
	all := r.reporters()
	for _, reporter := range all {
		r.endIfOver(reporter, over)
	}
	for _, reporter := range all {
		if err := r.storeAgain(ctx, reporter); err != nil {
			return err // the store would not take the others either
		}
	}
	return r.deleteOldMarks(ctx)
}

// endIfOver empties the list of a reporter that is over. It asks while it holds the list, so a new process of the
// reporter has either reported already, and then it is not over, or replaces what is empty.
func (r *Registry) endIfOver(reporter string, over func(reporter string) bool) {
	l := r.listOf(reporter)
	if !l.writing.TryLock() {
		return
	}
	defer l.writing.Unlock()
	if len(r.shown(l)) > 0 && over(reporter) {
		r.show(l, nil)
		l.unstored = true
	}
}

// storeAgain stores a list that the store has not taken.
func (r *Registry) storeAgain(ctx context.Context, reporter string) error {
	l := r.listOf(reporter)
	if !l.writing.TryLock() {
		return nil
	}
	defer l.writing.Unlock()
	if !l.unstored {
		return nil
	}
	err := r.store(ctx, r.o.Node, reporter, r.shown(l))
	l.unstored = err != nil
	return err
}

// Share replaces the list of a reporter that speaks for all nodes; one of them calls it at a time.
func (r *Registry) Share(ctx context.Context, reporter string, all []Trouble) error {
	entries, err := r.entriesOf(AllNodes, reporter, all, nil)
	if err != nil {
		return err
	}
	return r.store(ctx, AllNodes, reporter, entries)
}

// Shared returns the stored list of a reporter that speaks for all nodes.
func (r *Registry) Shared(reporter string) ([]Trouble, error) {
	var out []Trouble
	stored, err := r.stored(AllNodes, reporter)
	for _, e := range stored {
		out = append(out, e.Trouble)
	}
	return out, err
}

// entriesOf makes the entries of a list; those that were there keep their time.
func (r *Registry) entriesOf(
	node, reporter string,
	all []Trouble,
	before []Entry,
) ([]Entry, error) {
	if len(all) > maxTroubles {
		return nil, fault.New(
			fault.TooBig,
			"%s reports %d troubles; at most %d are taken",
			reporter,
			len(all),
			maxTroubles,
		)
	}
	stored, err := r.stored(node, reporter)
	if err != nil {
		stored = nil // the list is shown all the same
	}
	since := map[string]time.Time{}
	for _, e := range append(stored, before...) {
		since[e.ID] = e.Since
	}
	out, seen := []Entry{}, map[string]bool{}
	for _, t := range all {
		e := Entry{Trouble: t, ID: idOf(node, reporter, &t), Node: node, Reporter: reporter}
		if seen[e.ID] || t.Passing && since[e.ID].IsZero() {
			continue
		}
		seen[e.ID] = true
		e.Cause, e.Remedy, e.Subject = cut(e.Cause), cut(e.Remedy), cut(e.Subject)
		if e.Since.IsZero() {
			e.Since = cmp.Or(since[e.ID], r.o.Now().UTC().Truncate(time.Second))
		}
		out = append(out, e)
	}
	return out, nil
}

// store writes what is different from the stored list. An acknowledgement ends with its trouble, a silence by its time.
func (r *Registry) store(ctx context.Context, node, reporter string, entries []Entry) error {
	prefix := prefixOf(node, reporter)
	return r.change(ctx, r.local, func(sn datastore.Snapshot) (datastore.Txn, error) {
		t, there := datastore.Txn{Volatile: true}, map[string][]byte{}
		for e, err := range sn.Range(Namespace, datastore.RangeOptions{Prefix: prefix}) {
			if err != nil {
				return t, err
			}
			there[strings.TrimPrefix(e.Key, prefix)] = e.Value
		}
		for _, e := range entries {
			text, err := json.Marshal(e.Trouble)
			if err != nil {
				return t, err
			}
			if !bytes.Equal(there[e.ID], text) {
				t.Ops = append(t.Ops, datastore.Put(Namespace, prefix+e.ID, text))
			}
			delete(there, e.ID)
		}
		for id := range there {
			t.Ops = append(t.Ops, datastore.Delete(Namespace, prefix+id))
			r.endMarks(sn, &t, id)
		}
		if len(there) > 0 { // nobody has marked one of them meanwhile
			t.Compares = append(t.Compares, datastore.Compare{
				Namespace: Namespace,
				Key:       markKeys,
				Revision:  sn.Revision(),
				Prefix:    true,
			})
		}
		return t, nil
	})
}

// maxTries bounds how often a change is worked out again because others were faster.
const maxTries = 8

// local reads what this node has, which is what it has written itself at least.
func (r *Registry) local(_ context.Context, f func(datastore.Snapshot) error) error {
	_, err := r.o.Store.Local(f)
	return err
}

// change commits what work makes of a snapshot, and works it out again when somebody else was faster.
func (r *Registry) change(
	ctx context.Context,
	read func(context.Context, func(datastore.Snapshot) error) error,
	work func(sn datastore.Snapshot) (datastore.Txn, error),
) error {
	var conflict error
	for range maxTries {
		var t datastore.Txn
		err := read(ctx, func(sn datastore.Snapshot) (err error) {
			t, err = work(sn)
			return err
		})
		if err != nil || len(t.Ops) == 0 {
			return err
		}
		if _, err = r.o.Store.Commit(ctx, t); !errors.Is(err, datastore.ErrConflict) {
			return err
		}
		conflict, read = err, r.o.Store.View // which has what the faster one wrote
	}
	return fault.Wrap(
		fault.InUse,
		conflict,
		"others kept changing the list of troubles, nothing was changed; try again",
	)
}

// stored is the list of a reporter in the store.
func (r *Registry) stored(node, reporter string) (out []Entry, err error) {
	prefix := prefixOf(node, reporter)
	_, err = r.o.Store.Local(func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(Namespace, datastore.RangeOptions{Prefix: prefix}) {
			if err != nil {
				return err
			}
			one := Entry{ID: strings.TrimPrefix(e.Key, prefix), Node: node, Reporter: reporter}
			if json.Unmarshal(e.Value, &one.Trouble) == nil {
				out = append(out, one)
			}
		}
		return nil
	})
	return out, err
}

// List returns all troubles, the newest first, with what people did with them.
func (r *Registry) List() (out []Entry, err error) {
	_, err = r.o.Store.Local(func(sn datastore.Snapshot) (err error) {
		out, err = r.entriesIn(sn)
		return err
	})
	if err != nil && out == nil {
		out = r.own() // they are known without the store
	}
	slices.SortStableFunc(out, func(x, y Entry) int {
		return cmp.Or(y.Since.Compare(x.Since), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.ID, y.ID))
	})
	return out, err
}

// own are the entries of this node's reporters.
func (r *Registry) own() (out []Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.mine {
		out = append(out, l.entries...)
	}
	return out
}

// entriesIn are all troubles, with the marks of a snapshot.
func (r *Registry) entriesIn(sn datastore.Snapshot) ([]Entry, error) {
	out, now := r.own(), r.o.Now()
	for e, err := range sn.Range(Namespace, datastore.RangeOptions{Prefix: foundKeys}) {
		if err != nil {
			return out, err
		}
		one, ok := entryAt(e)
		if ok && one.Node != r.o.Node && (one.Node == AllNodes || r.o.Living(one.Node)) {
			out = append(out, one)
		}
	}
	for i := range out {
		m, _, _ := readMarks(sn, out[i].ID)
		out[i].Acknowledged = m.Acknowledged
		if m.Silenced != nil && m.Until.After(now) {
			out[i].Silenced, out[i].Until = m.Silenced, m.Until
		}
	}
	return out, nil
}

// entryAt reads an entry with its key, found/NODE/REPORTER/ID.
func entryAt(e datastore.Entry) (one Entry, ok bool) {
	parts := strings.Split(strings.TrimPrefix(e.Key, foundKeys), "/")
	if len(parts) != 3 {
		return one, false
	}
	node, err := url.PathUnescape(parts[0])
	if err != nil {
		return one, false
	}
	reporter, err := url.PathUnescape(parts[1])
	if err != nil {
		return one, false
	}
	one = Entry{ID: parts[2], Node: node, Reporter: reporter}
	return one, json.Unmarshal(e.Value, &one.Trouble) == nil
}

// sameEntry reports whether two entries say the same.
func sameEntry(x, y Entry) bool {
	a, errA := json.Marshal(x.Trouble)
	b, errB := json.Marshal(y.Trouble)
	return x.ID == y.ID && errA == nil && errB == nil && bytes.Equal(a, b)
}
