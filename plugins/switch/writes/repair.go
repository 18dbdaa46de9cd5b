package writes

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

// The times between two tries to repair what is left, and how many switches are repaired
// at a time.
const (
	repairFirst = 2 * time.Second
	repairMost  = time.Minute
	repairers   = 16
)

// List returns the operations that were interrupted, that wait or are being carried out,
// the oldest first.
func (w *Writer) List() (out []Record) {
	for _, r := range w.table.All(w.store.Now(), "") {
		if !r.hasEnded() || r.Outcome != "" {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Record) int { return a.Begun.Compare(b.Begun) })
	return out
}

// leftOf returns what was begun at a switch and not ended, the latest first: it is taken
// back in that order.
func (w *Writer) leftOf(node uint64) (out []Record) {
	for _, r := range w.table.All(w.store.Now(), keyOf(node, "")) {
		if r.isLeft() {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Record) int { return -a.Begun.Compare(b.Begun) })
	return out
}

// repairSwitch ends what was begun at a switch and not ended. The caller has the switch for
// itself, so none of it is being carried out. It fails when the switch cannot be asked
// now; unless all is asked for, not about one whose state only its driver plugin knows.
func (w *Writer) repairSwitch(
	ctx context.Context,
	term *state.Term,
	sw *switchdriver.Switch,
	all bool,
) error {
	for _, r := range w.leftOf(sw.NodeId) {
		c := &carried{
			w:      w,
			term:   term,
			record: r,
			stored: true,
			quiet:  true,
		}
		act, end, err := term.Act(context.WithValue(ctx, carriedKey{}, c), repairMost)
		if err != nil {
			return err
		}
		outcome, text, err := w.callRepair(act, sw, &r)
		end()
		if err != nil {
			f := fault.Wrap(
				fault.KindOf(err),
				err,
				"an earlier change of switch %s (%s, operation %s) was not finished and cannot be repaired now: %v",
				switchdriver.Label(sw),
				r.What(),
				r.ID,
				err,
			)
			f.Source = fault.SourceDevice
			if !all && r.isDriverOnly() {
				continue
			}
			return f
		}
		if err := w.endRepaired(ctx, c, outcome, text); err != nil {
			return err
		}
	}
	return nil
}

// callRepair has a change repaired. After a panic it waits, as if the switch could not be asked, and the process lives.
func (w *Writer) callRepair(
	ctx context.Context,
	sw *switchdriver.Switch,
	r *Record,
) (outcome Outcome, text string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = w.panicked(r, v)
		}
	}()
	return w.opt.Repair(ctx, sw, r)
}

// endRepaired ends a record by what its repair found. Whoever still waits for it is
// answered by it.
func (w *Writer) endRepaired(ctx context.Context, c *carried, outcome Outcome, text string) error {
	r := c.record
	r.Outcome, r.Text, r.Ended, r.State = outcome, text, time.Now().UTC(), Done
	if outcome != Whole {
		r.State = Failed
		what := "what was sent was taken back"
		if outcome == Left {
			what = "the switch is to be looked at: " + text
		}
		r.Faults = toFaults(fault.New(
			fault.Unavailable,
			"the operation %s (%s of switch %s) was interrupted; %s",
			r.ID,
			r.What(),
			r.Switch,
			what,
		))
	}
	if err := w.putRecord(ctx, c, r); err != nil {
		return err
	}
	log := w.opt.Log.Info
	if outcome != Whole {
		log = w.opt.Log.Warn
	}
	log(
		"a change that was not finished is repaired",
		"operation",
		r.ID,
		"switch",
		r.Switch,
		"change",
		r.What(),
		"outcome",
		outcome,
		"detail",
		text,
	)
	return nil
}

// isDriverOnly separates changes that a driver plugin made of what no other driver touches, such
// as access lists: while the plugin is away they wait, and the rest of the switch does
// not wait for them.
func (r *Record) isDriverOnly() bool {
	_, acl := r.Operation.Request.(*pluginv1.ApplyAclRequest)
	return acl && r.Driver != "" && len(r.Steps) == 0
}

// runRepairs repairs what an earlier holder left, and what could not be undone, until
// ctx ends. Switches that are not listed wait until they are.
func (w *Writer) runRepairs(ctx context.Context, term *state.Term) {
	pause := time.Duration(0) // at once: nothing of this process is left over yet
	for ctx.Err() == nil {
		host.Pause(ctx, pause)
		left := map[uint64]bool{}
		for _, r := range w.table.All(w.store.Now(), "") {
			// One that this term has sent is being carried out, unless it is kept.
			if r.State == Unknown || r.State == Sent && r.Epoch != term.Epoch() {
				left[r.Node] = true
			}
		}
		if pause = min(max(2*pause, repairFirst), repairMost); len(left) == 0 {
			pause = repairFirst
			continue
		}
		var all errgroup.Group
		all.SetLimit(repairers)
		for node := range left {
			all.Go(func() error {
				w.repairNode(ctx, term, node)
				return nil
			})
		}
		_ = all.Wait()
	}
}

func (w *Writer) repairNode(ctx context.Context, term *state.Term, node uint64) {
	ctx, cancel := context.WithTimeout(ctx, repairMost)
	defer cancel()
	if node == 0 { // nothing is left half by a discovery
		for _, r := range w.leftOf(0) {
			if r.Epoch != term.Epoch() {
				_ = w.endRepaired(
					ctx,
					&carried{
						w:      w,
						term:   term,
						record: r,
						stored: true,
						quiet:  true,
					},
					Undone,
					"",
				)
			}
		}
		return
	}
	sw, err := w.opt.Find(node)
	if err != nil {
		return
	}
	leave, err := w.takeTurn(ctx, node)
	if err != nil {
		return
	}
	defer leave()
	if w.opt.Refuse != nil {
		err = w.opt.Refuse(sw)
	}
	if err == nil {
		err = w.repairSwitch(ctx, term, sw, true)
	}
	if err != nil && ctx.Err() == nil {
		w.opt.Log.Warn("a change that was not finished waits", "err", err)
	}
}
