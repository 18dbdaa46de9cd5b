package driver

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"ctl.internal/plugins/switch/journal"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// settle ends the changes of a switch that the journal says were not finished, the
// latest first. It fails when the switch cannot be asked now; unless all is asked for,
// not about one that only its driver plugin can tell of.
func (c *Chooser) settle(ctx context.Context, sw *switchdriver.Switch, all bool) error {
	if err := c.opt.Journal.Take(ctx); err != nil {
		return err
	}
	for _, r := range c.opt.Journal.Unsettled(sw.NodeId) {
		outcome, text, err := c.recover(ctx, sw, r)
		if err != nil {
			f := fault.Wrap(fault.KindOf(err), err, "an earlier change of switch %s (%s) was not finished and cannot be settled now: %v", name(sw), r.What, err)
			f.Source = fault.SourceDevice
			if !all && apart(r) {
				continue
			}
			return f
		}
		if err := c.opt.Journal.Settle(ctx, r, outcome, text); err != nil {
			return err
		}
	}
	return nil
}

// apart tells changes that a driver plugin made of what no other driver touches, such
// as access lists: while the plugin is away they wait, and the rest of the switch does
// not wait for them.
func apart(r journal.Record) bool {
	return r.Operation != nil && r.Operation.Driver != VendorFile && r.Operation.ACL != nil
}

func (c *Chooser) recover(ctx context.Context, sw *switchdriver.Switch, r journal.Record) (journal.Outcome, string, error) {
	if r.Operation == nil {
		standard, ok := c.opt.Standard.(Recoverer)
		if !ok {
			return journal.Left, "nothing knows its steps", nil
		}
		return standard.Recover(ctx, c.known(sw), r.Steps)
	}
	choices, sw, err := c.Of(ctx, sw)
	if err != nil {
		return "", "", err
	}
	if r.Operation.Driver == VendorFile {
		if r.Operation.VLAN == nil {
			return recoverLines(ctx, choices, sw, r.Operation)
		}
		return c.recoverVLAN(ctx, sw, r.Operation, c.opt.Standard, c.opt.Standard)
	}
	for _, choice := range choices {
		if g, ok := choice.Driver.(*guard); ok && g.name == r.Operation.Driver {
			return g.recover(ctx, sw, r.Operation)
		}
	}
	return journal.Left, "the driver " + r.Operation.Driver + " is not there any more", nil
}

// recoverLines settles lines that the vendor-specific file describes: some of them may
// have been typed, so what does not show as whole is left to the user.
func recoverLines(ctx context.Context, choices []Choice, sw *switchdriver.Switch, op *journal.Operation) (journal.Outcome, string, error) {
	for _, choice := range choices {
		reader, ok := choice.Driver.(switchdriver.ACLReader)
		if !ok || op.ACL == nil || !choice.Has("ReadAcl") {
			continue
		}
		differs, err := aclDiffers(ctx, reader, sw, op.ACL)
		switch {
		case err != nil:
			return "", "", err
		case differs == "":
			return journal.Whole, "", nil
		}
		return journal.Left, "the switch shows " + differs + ": look at it", nil
	}
	return journal.Left, "nothing reads this: look at the switch", nil
}

// recover settles an operation of a driver plugin: it knows not its steps, only what
// was asked for and, of VLANs, what was before.
func (g *guard) recover(ctx context.Context, sw *switchdriver.Switch, op *journal.Operation) (journal.Outcome, string, error) {
	if op.VLAN != nil {
		var reader switchdriver.Driver = g
		if !g.has["ReadVlans"] {
			reader = g.c.opt.Standard
		}
		return g.c.recoverVLAN(ctx, sw, op, reader, g)
	}
	differs, err := g.shows(ctx, sw, op)
	switch {
	case errors.Is(err, &fault.Error{Kind: fault.Unsupported}):
		return journal.Left, "nothing reads this: look at the switch", nil
	case err != nil:
		return "", "", err
	case differs != "" && op.ACL != nil && g.made(ctx, sw, op.ACL):
		return journal.Left, "the switch shows " + differs + ", perhaps from before: look at it", nil
	case differs != "":
		return journal.Undone, "the switch shows " + differs, nil
	}
	return journal.Whole, "", nil
}

// recoverVLAN compares a VLAN with what was asked for and with what was before, and
// gives it that back where it is neither.
func (c *Chooser) recoverVLAN(ctx context.Context, sw *switchdriver.Switch, op *journal.Operation, reads, writes switchdriver.Driver) (journal.Outcome, string, error) {
	r, ok := reads.(switchdriver.VLANReader)
	w, can := writes.(switchdriver.VLANWriter)
	if !ok || !can {
		return journal.Left, "nothing reads this: look at the switch", nil
	}
	now, err := vlanOf(ctx, r, sw, op.VLAN.VlanId)
	if err != nil {
		if errors.Is(err, &fault.Error{Kind: fault.Unsupported}) {
			return journal.Left, "nothing reads this: look at the switch", nil
		}
		return "", "", err
	}
	if vlanDiffers(op, now) == "" {
		return journal.Whole, "", nil
	}
	switch {
	case now == nil && op.Before == nil, now != nil && op.Before != nil && portsDiffer(op.Before, now) == "":
		return journal.Undone, "", nil
	case op.Before == nil:
		err = w.DeleteVLAN(ctx, sw, op.VLAN.VlanId)
	default:
		_, err = w.WriteVLAN(ctx, sw, op.Before, now == nil, true)
	}
	switch fault.KindOf(err) {
	case fault.Timeout, fault.Unavailable:
		if err != nil {
			return "", "", err
		}
	}
	if err != nil {
		return journal.Left, clean(err.Error(), maxFaultText), nil
	}
	return journal.Undone, "", nil
}

// The times between two tries to settle what is left.
const (
	settleFirst = 2 * time.Second
	settleMost  = time.Minute
)

// settlers is how many switches are settled at a time.
const settlers = 16

// Settle settles what an earlier process left, and what could not be taken back, until
// ctx ends. find returns a listed switch; those not listed wait until they are.
func (c *Chooser) Settle(ctx context.Context, find func(node uint64) (*switchdriver.Switch, error)) {
	c.turn(ctx)
	for pause := settleFirst; ctx.Err() == nil; pause = min(2*pause, settleMost) {
		if err := c.opt.Journal.Take(ctx); err != nil {
			c.opt.Log.Warn("changes that were not finished are not settled yet", "err", err)
			wait(ctx, pause)
			continue
		}
		nodes := c.opt.Journal.Nodes()
		if len(nodes) == 0 {
			pause = settleFirst
			select {
			case <-ctx.Done():
			case <-c.opt.Journal.News():
			}
			continue
		}
		for chunk := range slices.Chunk(nodes, settlers) {
			var wg sync.WaitGroup
			for _, n := range chunk {
				sw, err := find(n)
				if err != nil {
					continue
				}
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(ctx, settleMost)
					defer cancel()
					if err := c.change(ctx, sw, true, func(context.Context) error { return nil }); err != nil && ctx.Err() == nil {
						c.opt.Log.Warn("a change that was not finished waits", "err", err)
					}
				})
			}
			wg.Wait()
		}
		if len(c.opt.Journal.Nodes()) > 0 {
			wait(ctx, pause)
		}
	}
}
