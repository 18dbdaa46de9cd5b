package troubles

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// marks are what people did with one trouble.
type marks struct {
	Acknowledged *Mark     `json:"acknowledged,omitempty"`
	Silenced     *Mark     `json:"silenced,omitempty"`
	Until        time.Time `json:"until,omitzero"`
}

// isSilent reports whether a silence goes on.
func (m *marks) isSilent(now time.Time) bool {
	return m.Silenced != nil && m.Until.After(now)
}

// readMarks reads the marks of a trouble, with the revision that a change of them compares; 0: there are none.
func readMarks(sn datastore.Snapshot, id string) (m marks, at datastore.Revision, err error) {
	e, err := sn.Get(Namespace, markKeys+id)
	if err != nil {
		return m, 0, err
	}
	if err := json.Unmarshal(e.Value, &m); err != nil {
		return marks{}, e.Revision, err
	}
	return m, e.Revision, nil
}

// endMarks adds to t what takes the marks of a trouble away that is gone, but for a silence that goes on.
func (r *Registry) endMarks(sn datastore.Snapshot, t *datastore.Txn, id string) {
	m, at, err := readMarks(sn, id)
	if at == 0 {
		return
	}
	op := datastore.Delete(Namespace, markKeys+id)
	if err == nil && m.isSilent(r.o.Now()) {
		if m.Acknowledged == nil {
			return
		}
		text, err := json.Marshal(marks{Silenced: m.Silenced, Until: m.Until})
		if err != nil {
			return
		}
		op = datastore.Put(Namespace, markKeys+id, text)
	}
	t.Ops = append(t.Ops, op)
	t.Compares = append(t.Compares, datastore.Compare{
		Namespace: Namespace,
		Key:       markKeys + id,
		Revision:  at,
	})
}

// Acknowledge says that somebody knows of a trouble; a nil mark takes that back.
func (r *Registry) Acknowledge(ctx context.Context, id string, by *Mark) error {
	return r.mark(ctx, id, func(m *marks) { m.Acknowledged = by.bounded() })
}

// Silence keeps a trouble out of all counts until a time, also when it goes and comes again; a nil mark ends that.
func (r *Registry) Silence(ctx context.Context, id string, by *Mark, until time.Time) error {
	return r.mark(ctx, id, func(m *marks) { m.Silenced, m.Until = by.bounded(), until })
}

// bounded is a mark whose note has at most the length that is kept.
func (m *Mark) bounded() *Mark {
	if m == nil {
		return nil
	}
	return &Mark{By: m.By, At: m.At, Note: cut(m.Note)}
}

// mark changes the marks of a trouble that is there, as far as nobody else has changed either meanwhile.
func (r *Registry) mark(ctx context.Context, id string, change func(*marks)) error {
	return r.change(ctx, r.o.Store.View, func(sn datastore.Snapshot) (t datastore.Txn, err error) {
		all, err := r.entriesIn(sn)
		if err != nil {
			return t, err
		}
		i := slices.IndexFunc(all, func(e Entry) bool { return e.ID == id })
		if i < 0 {
			return t, fault.New(
				fault.NotFound,
				"there is no trouble %q; it may be over: ctl now lists them",
				id,
			)
		}
		m, at, err := readMarks(sn, id)
		if err != nil && at == 0 && !errors.Is(err, datastore.ErrNotFound) {
			return t, err
		}
		change(&m)
		op := datastore.Delete(Namespace, markKeys+id)
		if m.Acknowledged != nil || m.Silenced != nil {
			text, err := json.Marshal(m)
			if err != nil {
				return t, err
			}
			op = datastore.Put(Namespace, markKeys+id, text)
		}
		found := prefixOf(all[i].Node, all[i].Reporter) + id
		there, err := sn.Get(Namespace, found)
		if err != nil && !errors.Is(err, datastore.ErrNotFound) {
			return t, err
		}
		t.Ops = []datastore.Op{op}
		t.Compares = []datastore.Compare{
			{Namespace: Namespace, Key: markKeys + id, Revision: at},
			{Namespace: Namespace, Key: found, Revision: there.Revision},
		}
		return t, nil
	})
}

// maxDeleted are the marks that one call deletes; the next one goes on.
const maxDeleted = 100

// deleteOldMarks deletes the marks of troubles that are gone, when their silence is over.
func (r *Registry) deleteOldMarks(ctx context.Context) error {
	return r.change(ctx, r.local, func(sn datastore.Snapshot) (t datastore.Txn, err error) {
		old, err := r.oldMarks(sn)
		if err != nil || len(old) == 0 {
			return t, err
		}
		for e, err := range sn.Range(Namespace, datastore.RangeOptions{Prefix: foundKeys, Shared: true}) {
			if err != nil {
				return t, err
			}
			delete(old, e.Key[strings.LastIndexByte(e.Key, '/')+1:])
		}
		for id, at := range old {
			if len(t.Ops) == maxDeleted {
				break
			}
			t.Ops = append(t.Ops, datastore.Delete(Namespace, markKeys+id))
			t.Compares = append(t.Compares, datastore.Compare{
				Namespace: Namespace,
				Key:       markKeys + id,
				Revision:  at,
			})
		}
		return t, nil
	})
}

// oldMarks are the marks without a silence that goes on, by the id of their trouble, with their revisions.
func (r *Registry) oldMarks(sn datastore.Snapshot) (map[string]datastore.Revision, error) {
	old, now := map[string]datastore.Revision{}, r.o.Now()
	for e, err := range sn.Range(Namespace, datastore.RangeOptions{Prefix: markKeys, Shared: true}) {
		if err != nil {
			return nil, err
		}
		var m marks
		if json.Unmarshal(e.Value, &m) != nil || !m.isSilent(now) {
			old[strings.TrimPrefix(e.Key, markKeys)] = e.Revision
		}
	}
	return old, nil
}
