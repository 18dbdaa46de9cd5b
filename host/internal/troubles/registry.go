package troubles

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
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

// marks are what people did with one trouble.
type marks struct {
	Acknowledged *Mark     `json:"acknowledged,omitempty"`
	Silenced     *Mark     `json:"silenced,omitempty"`
	Until        time.Time `json:"until,omitzero"`
}

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

	mu sync.Mutex
	// mine are the newest lists of this node's reporters by name, which are shown also while the store
	// does not take them.
	mine map[string][]Entry
}

// New returns the list that a store has.
func New(o Options) *Registry {
	return &Registry{o: o, mine: map[string][]Entry{}}
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

// prefixOf is where the troubles of a reporter are.
func prefixOf(node, reporter string) string {
	return foundKeys + url.PathEscape(node) + "/" + url.PathEscape(reporter) + "/"
}

// Report replaces the list of a reporter of this node. A trouble that was there stays since then, and as people
// marked it. The list is shown even where the error says that it was not stored.
func (r *Registry) Report(ctx context.Context, reporter string, all []Trouble) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	entries, err := r.entriesOf(r.o.Node, reporter, all, r.mine[reporter])
	if err != nil {
		return err
	}
	if !slices.EqualFunc(r.mine[reporter], entries, sameEntry) {
		defer r.changed.Fire()
	}
	r.mine[reporter] = entries
	return r.store(ctx, r.o.Node, reporter, entries)
}

// End ends the lists of the reporters of this node that are over.
func (r *Registry) End(ctx context.Context, over func(reporter string) bool) error {
	r.mu.Lock()
	var ended []string
	for reporter, list := range r.mine {
		if len(list) > 0 && over(reporter) {
			ended = append(ended, reporter)
		}
	}
	r.mu.Unlock()
	var errs []error
	for _, reporter := range ended {
		errs = append(errs, r.Report(ctx, reporter, nil))
	}
	return errors.Join(errs...)
}

// Share replaces the list of a reporter that speaks for all nodes; one of them calls it at a time.
func (r *Registry) Share(ctx context.Context, reporter string, all []Trouble) error {
	r.mu.Lock()
	defer r.mu.Unlock()
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
		if seen[e.ID] {
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
	prefix, there := prefixOf(node, reporter), map[string][]byte{}
	var ops []datastore.Op
	_, err := r.o.Store.Local(func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(Namespace, datastore.RangeOptions{Prefix: prefix}) {
			if err != nil {
				return err
			}
			there[strings.TrimPrefix(e.Key, prefix)] = e.Value
		}
		for _, e := range entries {
			text, err := json.Marshal(e.Trouble)
			if err != nil {
				return err
			}
			if !bytes.Equal(there[e.ID], text) {
				ops = append(ops, datastore.Put(Namespace, prefix+e.ID, text))
			}
			delete(there, e.ID)
		}
		for id := range there {
			ops = append(ops, datastore.Delete(Namespace, prefix+id))
			ops = append(ops, r.endMarks(sn, id)...)
		}
		return nil
	})
	if err != nil || len(ops) == 0 {
		return err
	}
	_, err = r.o.Store.Commit(ctx, datastore.Txn{Ops: ops, Volatile: true})
	return err
}

// endMarks are the writes that take the marks of a trouble away that is gone, but for a silence that goes on.
func (r *Registry) endMarks(sn datastore.Snapshot, id string) []datastore.Op {
	m, known := readMarks(sn, id)
	switch {
	case !known:
		return nil
	case m.Silenced == nil || !m.Until.After(r.o.Now()):
		return []datastore.Op{datastore.Delete(Namespace, markKeys+id)}
	case m.Acknowledged == nil:
		return nil
	}
	m.Acknowledged = nil
	text, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return []datastore.Op{datastore.Put(Namespace, markKeys+id, text)}
}

func readMarks(sn datastore.Snapshot, id string) (m marks, known bool) {
	e, err := sn.Get(Namespace, markKeys+id)
	if err != nil || json.Unmarshal(e.Value, &m) != nil {
		return marks{}, false
	}
	return m, true
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
func (r *Registry) List() ([]Entry, error) {
	var out []Entry
	r.mu.Lock()
	for _, list := range r.mine {
		out = append(out, list...)
	}
	r.mu.Unlock()
	now := r.o.Now()
	_, err := r.o.Store.Local(func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(Namespace, datastore.RangeOptions{Prefix: foundKeys}) {
			if err != nil {
				return err
			}
			one, ok := entryAt(e)
			if ok && one.Node != r.o.Node && (one.Node == AllNodes || r.o.Living(one.Node)) {
				out = append(out, one)
			}
		}
		for i := range out {
			m, _ := readMarks(sn, out[i].ID)
			out[i].Acknowledged = m.Acknowledged
			if m.Silenced != nil && m.Until.After(now) {
				out[i].Silenced, out[i].Until = m.Silenced, m.Until
			}
		}
		return nil
	})
	slices.SortStableFunc(out, func(x, y Entry) int {
		return cmp.Or(y.Since.Compare(x.Since), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.ID, y.ID))
	})
	return out, err
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

// Acknowledge says that somebody knows of a trouble; a nil mark takes that back.
func (r *Registry) Acknowledge(ctx context.Context, id string, by *Mark) error {
	return r.mark(ctx, id, func(m *marks) { m.Acknowledged = by })
}

// Silence keeps a trouble out of all counts until a time, also when it goes and comes again; a nil mark ends that.
func (r *Registry) Silence(ctx context.Context, id string, by *Mark, until time.Time) error {
	return r.mark(ctx, id, func(m *marks) { m.Silenced, m.Until = by, until })
}

// mark changes the marks of a trouble.
func (r *Registry) mark(ctx context.Context, id string, change func(*marks)) error {
	all, err := r.List()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(e Entry) bool { return e.ID == id }) {
		return fault.New(fault.NotFound, "there is no trouble %q; it may be over: ctl now lists them", id)
	}
	var m marks
	if err := r.o.Store.View(ctx, func(sn datastore.Snapshot) error {
		m, _ = readMarks(sn, id)
		return nil
	}); err != nil {
		return err
	}
	change(&m)
	op := datastore.Delete(Namespace, markKeys+id)
	if m.Acknowledged != nil || m.Silenced != nil {
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		op = datastore.Put(Namespace, markKeys+id, text)
	}
	_, err = r.o.Store.Commit(ctx, datastore.Txn{Ops: []datastore.Op{op}})
	return err
}

// sameEntry reports whether two entries say the same.
func sameEntry(x, y Entry) bool {
	a, errA := json.Marshal(x.Trouble)
	b, errB := json.Marshal(y.Trouble)
	return x.ID == y.ID && errA == nil && errB == nil && bytes.Equal(a, b)
}
