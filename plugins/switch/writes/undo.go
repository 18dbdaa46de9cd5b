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

// NothingShows is the line of an undo that has nothing to take back. It is not recorded.
const NothingShows = "nothing of it shows any more"

const (
	donePrefix    = "done/"
	plannedPrefix = "planned/"
)

// The bounds of what can be undone: how many changes are kept that are of no plan, and how long.
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

// plannedKey is the key of a change of a plan.
func plannedKey(plan string, node uint64, id string) string { return plan + "/" + keyOf(node, id) }

// putDone writes a change that can be undone.
func (w *Writer) putDone(tx *state.Tx, r Record) error {
	if r.Operation.Group != "" {
		return w.planned.Put(tx, plannedKey(r.Operation.Group, r.Node, r.ID), r)
	}
	return w.done.Put(tx, r.ID, r)
}

// findUndone finds the change that an operation takes back.
func (w *Writer) findUndone(n state.Reader, node uint64, o *Operation) (Record, bool) {
	if r, ok := w.planned.Get(n, plannedKey(o.Group, node, o.Undo)); ok {
		return r, true
	}
	return w.done.Get(n, o.Undo)
}

// keepDone keeps a change that was carried out for its undo.
func (w *Writer) keepDone(tx *state.Tx, r Record) error {
	if !r.canBeUndone() {
		return nil
	}
	w.pruneDone(tx)
	if of, ok := w.findUndone(tx, r.Node, &r.Operation); ok && !r.Partly {
		if err := w.markUndone(tx, of, r.ID); err != nil {
			return err
		}
	}
	r.Timeout, r.Outcome, r.Text = 0, "", ""
	return w.putDone(tx, r)
}

// markUndone notes which change took a record back; what a record that is an undo took back holds again.
func (w *Writer) markUndone(tx *state.Tx, r Record, by string) error {
	r.UndoneBy = by
	if again, ok := w.findUndone(tx, r.Node, &r.Operation); ok && again.UndoneBy == r.ID {
		again.UndoneBy = ""
		if err := w.putDone(tx, again); err != nil {
			return err
		}
	}
	return w.putDone(tx, r)
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
	now := w.store.Now()
	for _, r := range w.done.All(now, "") {
		if group == "" || r.Operation.Group == group {
			out = append(out, r)
		}
	}
	prefix := ""
	if group != "" {
		prefix = group + "/"
	}
	for _, r := range w.planned.All(now, prefix) {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Record) int { return strings.Compare(b.ID, a.ID) })
	return out
}

// Planned are the changes of a plan at a switch, the newest first, also those that were undone.
func (w *Writer) Planned(n state.Reader, plan string, node uint64) (out []Record) {
	for _, r := range w.planned.All(n, plannedKey(plan, node, "")) {
		if r.Operation.Undo == "" {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Record) int { return strings.Compare(b.ID, a.ID) })
	return out
}

// PlannedLen is the number of changes of plans that are kept.
func (w *Writer) PlannedLen(n state.Reader) int { return w.planned.Len(n) }

// Plans are the plans of which changes are kept.
func (w *Writer) Plans(n state.Reader) map[string]bool {
	out := map[string]bool{}
	for _, r := range w.planned.All(n, "") {
		out[r.Operation.Group] = true
	}
	return out
}

// Forget removes up to most changes of a plan, and returns them; undone: only undos and what they took back.
func (w *Writer) Forget(tx *state.Tx, plan string, undone bool, most int) (out []Record) {
	for key, r := range w.planned.All(tx.Snapshot(), plan+"/") {
		if len(out) == most {
			break
		}
		if !undone || r.Operation.Undo != "" || r.UndoneBy != "" {
			w.planned.Delete(tx, key)
			out = append(out, r)
		}
	}
	return out
}

// FindDone returns a change that can be undone.
func (w *Writer) FindDone(id string) (Record, error) {
	now := w.store.Now()
	if r, ok := w.done.Get(now, id); ok {
		return r, nil
	}
	for _, r := range w.planned.All(now, "") {
		if r.ID == id {
			return r, nil
		}
	}
	return Record{}, notDone(id)
}

func notDone(id string) error {
	return fault.At(
		fault.NotFound,
		"operation",
		"there is no change %.40q that can be undone; switch:undo without an operation lists them",
		id,
	)
}

// Undoing is what an operation takes back at a switch.
func (w *Writer) Undoing(node uint64, o *Operation) (Undoing, error) {
	r, ok := w.findUndone(w.store.Now(), node, o)
	if !ok {
		return Undoing{}, notDone(o.Undo)
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
