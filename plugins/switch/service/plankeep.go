package service

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"time"

	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
)

// beginPlan writes a plan of so many changes that the holder of the role then applies.
func (s *Service) beginPlan(ctx context.Context, p planRecord, changes int) (planRecord, error) {
	who, _ := caller.From(ctx)
	p.By, p.Begun, p.State, p.Run = who.ID(), time.Now().UTC(), planApplying, 1
	p.Asked = p.By
	p.ID = p.Begun.Format("20060102T150405.000") + "-" + rand.Text()[:4]
	if err := p.checkSize(); err != nil {
		return p, err
	}
	for {
		full := false
		_, err := s.store.Update(ctx, func(tx *state.Tx) error {
			n := tx.Snapshot()
			if full = s.plans.records.Len(n) >= maxPlans || s.writer.PlannedLen(n)+changes > maxPlanned; full {
				return nil
			}
			return s.plans.records.Put(tx, p.ID, p)
		})
		if err == nil && full {
			err = s.removePlan(ctx, "")
		}
		if err != nil || !full {
			return p, err
		}
	}
}

// makeRoom removes other plans until the changes of one that is applied again can be kept.
func (s *Service) makeRoom(ctx context.Context, id string, changes int) error {
	if err := s.forgetUndone(ctx, id); err != nil {
		return err
	}
	for s.writer.PlannedLen(s.store.Now())+changes > maxPlanned {
		if err := s.removePlan(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// forgetUndone removes the changes of a plan that were undone, and their undos, before it is applied again.
func (s *Service) forgetUndone(ctx context.Context, id string) error {
	for more := true; more; {
		_, err := s.store.Update(ctx, func(tx *state.Tx) error {
			p, err := s.findPlan(tx, id)
			if err != nil || p.State.isRunning() {
				more = false
				return err
			}
			removed := s.writer.Forget(tx, id, true, maxRemoved)
			more = len(removed) == maxRemoved
			fewer := map[uint64]int{}
			for _, r := range removed {
				if r.Operation.Undo == "" {
					fewer[r.Node]++
				}
			}
			for node, n := range fewer {
				if step, ok := s.plans.steps.Get(tx, stepKey(id, node)); ok {
					step.Kept = max(0, step.Kept-n)
					if err := s.plans.steps.Put(tx, stepKey(id, node), step); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// removePlan removes the oldest plan that has ended, other than one, with its steps and changes; and first what is left of
// one whose removal was cut short.
func (s *Service) removePlan(ctx context.Context, other string) error {
	id := ""
	_, err := s.store.Update(ctx, func(tx *state.Tx) error {
		all := map[string]planRecord{}
		maps.Insert(all, s.plans.records.All(tx.Snapshot(), ""))
		for plan := range s.writer.Plans(tx.Snapshot()) {
			if _, known := all[plan]; !known {
				id = plan
				return nil
			}
		}
		for _, id = range slices.Sorted(maps.Keys(all)) {
			if id != other && !all[id].State.isRunning() {
				if _, ok := s.plans.records.Get(tx, id); ok {
					s.plans.records.Delete(tx, id)
				}
				return nil
			}
		}
		return fault.New(fault.Unavailable, "%d plans are kept and none of them has ended, to make room for another; try again later", len(all))
	})
	for more := true; more && err == nil; {
		_, err = s.store.Update(ctx, func(tx *state.Tx) error {
			removed := len(s.writer.Forget(tx, id, false, maxRemoved))
			for key := range s.plans.steps.All(tx.Snapshot(), id+"/") {
				if removed == maxRemoved {
					break
				}
				s.plans.steps.Delete(tx, key)
				removed++
			}
			more = removed == maxRemoved
			return nil
		})
	}
	return err
}

// movePlan changes the state of a plan, if it is in one of those that are allowed, and what edit changes of it.
func (s *Service) movePlan(
	ctx context.Context,
	id string,
	to planState,
	edit func(*planRecord),
	from ...planState,
) (p planRecord, err error) {
	who, _ := caller.From(ctx)
	_, err = s.store.Update(ctx, func(tx *state.Tx) error {
		if p, err = s.findPlan(tx, id); err != nil {
			return err
		}
		if !slices.Contains(from, p.State) {
			return fault.At(fault.InUse, "plan", "plan %s is %s; this can be done with one that is %v", id, p.State, from)
		}
		if to.isRunning() {
			p.Run, p.Ended = p.Run+1, time.Time{}
			p.Asked = who.ID()
		}
		p.State = to
		edit(&p)
		return s.plans.records.Put(tx, id, p)
	})
	return p, err
}
