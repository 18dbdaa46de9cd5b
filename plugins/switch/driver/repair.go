package driver

import (
	"context"
	"errors"

	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// lookAtIt is what is left to the user.
const lookAtIt = "no driver can read this back: look at the switch"

// Repair finds out what became of an operation that was interrupted, and takes back what
// is half of it. It fails when the switch, or the driver that made the change, cannot be
// asked now.
func (c *Chooser) Repair(ctx context.Context, sw *switchdriver.Switch, r *writes.Record) (writes.Outcome, string, error) {
	if r.Driver == "" { // the standard one, whose steps are noted
		return c.opt.Standard.Recover(ctx, c.known(sw), r.Steps)
	}
	choices, sw, err := c.Of(ctx, sw)
	if err != nil {
		return "", "", err
	}
	if r.Driver == VendorFile {
		if r.Operation.VLAN == nil {
			return repairLines(ctx, choices, sw, &r.Operation)
		}
		return repairVLAN(ctx, sw, r, c.opt.Standard, c.standard)
	}
	for _, choice := range choices {
		if g, ok := choice.Driver.(*checked); ok && g.name == r.Driver {
			return g.repair(ctx, sw, r)
		}
	}
	return writes.Left, "the driver " + r.Driver + " is not there any more", nil
}

// repairLines repairs lines that the vendor-specific file describes: some of them may
// have been typed, so what does not show as whole is left to the user.
func repairLines(ctx context.Context, choices []Choice, sw *switchdriver.Switch, op *writes.Operation) (writes.Outcome, string, error) {
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
			return writes.Whole, "", nil
		}
		return writes.Left, "the switch shows " + differs + ": look at it", nil
	}
	return writes.Left, lookAtIt, nil
}

// repair ends an operation of a driver plugin, whose steps are not known: only what was
// asked for and, of VLANs, what was before.
func (g *checked) repair(ctx context.Context, sw *switchdriver.Switch, r *writes.Record) (writes.Outcome, string, error) {
	op := &r.Operation
	if op.VLAN != nil {
		var reader switchdriver.Driver = g
		if !g.has["ReadVlans"] {
			reader = g.c.opt.Standard
		}
		return repairVLAN(ctx, sw, r, reader, g.perform)
	}
	differs, err := g.shows(ctx, sw, op)
	switch {
	case errors.Is(err, &fault.Error{Kind: fault.Unsupported}):
		return writes.Left, lookAtIt, nil
	case err != nil:
		return "", "", err
	case differs != "" && op.ACL != nil && g.made(ctx, sw, op.ACL):
		return writes.Left, "the switch shows " + differs + ", perhaps from before: look at it", nil
	case differs != "":
		return writes.Undone, "the switch shows " + differs, nil
	}
	return writes.Whole, "", nil
}

// repairVLAN compares a VLAN with what was asked for and with what was before, and
// gives it that back where it is neither.
func repairVLAN(ctx context.Context, sw *switchdriver.Switch, rec *writes.Record, reads switchdriver.Driver,
	perform func(context.Context, *switchdriver.Switch, *writes.Operation) ([]string, error)) (writes.Outcome, string, error) {
	op, before := &rec.Operation, rec.Before
	r, ok := reads.(switchdriver.VLANReader)
	if !ok {
		return writes.Left, lookAtIt, nil
	}
	now, err := vlanOf(ctx, r, sw, op.VLAN.VlanId)
	if err != nil {
		if errors.Is(err, &fault.Error{Kind: fault.Unsupported}) {
			return writes.Left, lookAtIt, nil
		}
		return "", "", err
	}
	if vlanDiffers(op, now) == "" {
		return writes.Whole, "", nil
	}
	switch {
	case now == nil && before == nil, now != nil && before != nil && portsDiffer(before, now) == "":
		return writes.Undone, "", nil
	case before == nil:
		_, err = perform(ctx, sw, &writes.Operation{Name: "DeleteVlan", VLAN: op.VLAN})
	default:
		_, err = perform(ctx, sw, &writes.Operation{Name: "WriteVlan", VLAN: before, Create: now == nil, SetPorts: true})
	}
	switch fault.KindOf(err) {
	case fault.Timeout, fault.Unavailable:
		if err != nil {
			return "", "", err
		}
	}
	if err != nil {
		return writes.Left, clean(err.Error(), maxFaultText), nil
	}
	return writes.Undone, "", nil
}
