package writes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
)

// Undo is the operation that takes back an earlier one, which was carried out.
const Undo = "Undo"

const donePrefix = "done/"

// The bounds of what can be undone: how many changes are kept, and how long.
const (
	maxDone  = 5000
	keepDone = 30 * 24 * time.Hour
)

// Undoing is what an undo is of.
type Undoing struct {
	Record Record // of the change
	Force  bool   // what somebody else has changed since is overwritten
	// Who says by whom an instance was changed since, in words that follow what it holds; nil: nobody is known.
	Who func(oid string) string
}

// By is Who, where it is known.
func (u *Undoing) By(oid string) string {
	if u.Who == nil {
		return ""
	}
	return u.Who(oid)
}

// canBeUndone reports whether a record says what was before the change. A bounce leaves nothing to undo.
func (r *Record) canBeUndone() bool {
	known := len(r.Steps) > 0 || r.Driver != "" && (r.Operation.VLAN() != 0 || r.Port != nil)
	return r.Node != 0 && r.State == Done && known && !r.Operation.Bounces()
}

// keepDone keeps a change that was carried out for its undo.
func (w *Writer) keepDone(tx *state.Tx, r Record) error {
	if !r.canBeUndone() {
		return nil
	}
	w.pruneDone(tx)
	if of, ok := w.done.Get(tx, r.Operation.Undo); ok {
		if err := w.markUndone(tx, of, r.ID); err != nil {
			return err
		}
	}
	r.Timeout, r.Outcome, r.Text = 0, "", ""
	return w.done.Put(tx, r.ID, r)
}

// markUndone notes which change took a record back; what a record that is an undo took back holds again.
func (w *Writer) markUndone(tx *state.Tx, r Record, by string) error {
	r.UndoneBy = by
	if again, ok := w.done.Get(tx, r.Operation.Undo); ok && again.UndoneBy == r.ID {
		again.UndoneBy = ""
		if err := w.done.Put(tx, again.ID, again); err != nil {
			return err
		}
	}
	return w.done.Put(tx, r.ID, r)
}

// pruneDone removes the oldest changes, to make room for one more.
func (w *Writer) pruneDone(tx *state.Tx) {
	if w.done.Len(tx.Snapshot()) < maxDone {
		return
	}
	var ids []string
	for id, r := range w.done.All(tx.Snapshot(), "") {
		if time.Since(r.Ended) > keepDone {
			w.done.Delete(tx, id)
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids) // ids are in the order of time
	const some = maxDone / 10
	if len(ids) >= maxDone {
		for _, id := range ids[:some] {
			w.done.Delete(tx, id)
		}
	}
}

// Done returns the changes that can be undone, the newest first; group: only those of it.
func (w *Writer) Done(group string) (out []Record) {
	for _, r := range w.done.All(w.store.Now(), "") {
		if group == "" || r.Operation.Group == group {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Record) int { return strings.Compare(b.ID, a.ID) })
	return out
}

// FindDone returns a change that can be undone.
func (w *Writer) FindDone(id string) (Record, error) {
	r, ok := w.done.Get(w.store.Now(), id)
	if !ok {
		return r, fault.At(
			fault.NotFound,
			"operation",
			"there is no change %.40q that can be undone; switch:undo without an operation lists them",
			id,
		)
	}
	return r, nil
}

// Undoing is what an operation takes back.
func (w *Writer) Undoing(o *Operation) (Undoing, error) {
	r, err := w.FindDone(o.Undo)
	if err != nil {
		return Undoing{}, err
	}
	return Undoing{
		Record: r,
		Force:  o.Force,
		Who:    func(oid string) string { return w.changedSince(&r, oid) },
	}, nil
}

// changedSince says who has changed an instance after a change; empty: nobody by this controller.
func (w *Writer) changedSince(r *Record, oid string) string {
	for _, later := range w.Done("") {
		if later.Node != r.Node || later.ID <= r.ID {
			continue
		}
		for _, s := range later.Steps {
			if slices.ContainsFunc(s.Assigns, func(a Assignment) bool { return a.OID == oid }) {
				return later.author()
			}
		}
	}
	return "not by this controller"
}

// author says who asked for a change, and when.
func (r *Record) author() string {
	by := r.By
	if by == "" {
		by = "this controller"
	}
	return fmt.Sprintf("by %s at %s, operation %s", by, r.Begun.Format(time.RFC3339), r.ID)
}

// repairWait is how long AwaitRepair waits.
const repairWait = time.Minute

// AwaitRepair waits until what earlier processes left at a switch is repaired, or shown as left.
func (w *Writer) AwaitRepair(ctx context.Context, node uint64) error {
	wait, cancel := context.WithTimeout(ctx, repairWait)
	defer cancel()
	err := w.store.WaitUntil(wait, func(n *state.Snapshot) bool {
		term := w.term.Load()
		for _, r := range w.table.All(n, keyOf(node, "")) {
			earlier := term == nil || r.Epoch != term.Epoch()
			if r.State == Unknown || r.State == Sent && earlier {
				return false
			}
		}
		return true
	})
	if err != nil {
		return fault.Wrap(
			fault.Unavailable,
			err,
			"an earlier change of the switch waits for its repair, see switch:changes",
		)
	}
	return nil
}
