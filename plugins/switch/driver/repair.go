package driver

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// lookAtIt is what is left to the user.
const lookAtIt = "no driver can read this back: look at the switch"

// Repair finds out what became of an operation that was interrupted, and takes back what
// is half of it. It fails when the switch, or the driver that made the change, cannot be
// asked now.
func (c *Chooser) Repair(
	ctx context.Context,
	sw *switchdriver.Switch,
	r *writes.Record,
) (writes.Outcome, string, error) {
	if r.Driver == "" { // the standard one, whose steps are noted
		return c.opt.Standard.Recover(ctx, c.withIdentity(sw), r.Steps)
	}
	choices, sw, err := c.Of(ctx, sw)
	if err != nil {
		return "", "", err
	}
	if r.Driver == VendorFile {
		return repair{
			sw:      sw,
			r:       r,
			by:      readerOf(choices),
			perform: c.performStandard,
		}.endRepair(ctx)
	}
	for _, choice := range choices {
		g, ok := choice.Driver.(*checked)
		if ok && g.name == r.Driver {
			return repair{
				sw:      sw,
				r:       r,
				by:      g.readerFor(&r.Operation),
				perform: g.performOperation,
				whole:   true,
			}.endRepair(ctx)
		}
	}
	return writes.Left, "the driver " + r.Driver + " is not there any more", nil
}

// readerOf returns the first of the choices that reads what the vendor-specific file changes: VLANs are read by the
// standard driver, of the rest only access lists.
func readerOf(choices []Choice) func(operation string) (switchdriver.Driver, error) {
	return func(operation string) (switchdriver.Driver, error) {
		for _, choice := range choices {
			if operation == "ReadVlans" && choice.Name == Standard ||
				operation == "ReadAcl" && choice.Has(operation) {
				return choice.Driver, nil
			}
		}
		return nil, fault.New(fault.Unsupported, lookAtIt)
	}
}

// repair is that of an operation whose steps are not known: only what was asked for and, of VLANs, what was before.
type repair struct {
	sw      *switchdriver.Switch
	r       *writes.Record
	by      func(operation string) (switchdriver.Driver, error)
	perform func(context.Context, *switchdriver.Switch, *writes.Operation) ([]string, error)
	whole   bool // the change was made by one call: what does not show as made was not begun
}

func (p repair) endRepair(ctx context.Context) (writes.Outcome, string, error) {
	differs, err := switchdriver.Shown(ctx, p.sw, p.r.Operation.Request, p.by)
	switch {
	case errors.Is(err, &fault.Error{Kind: fault.Unsupported}):
		return writes.Left, lookAtIt, nil
	case err != nil:
		return "", "", err
	case differs == "":
		return writes.Whole, "", nil
	case p.r.Operation.VLAN() != 0:
		return p.repairVLAN(ctx)
	case p.r.Operation.Bounces():
		return p.bringUp(ctx)
	case !p.whole:
		return writes.Left, "the switch shows " + differs + ": look at it", nil
	case p.wasMade(ctx):
		return writes.Left, "the switch shows " + differs + ", perhaps from before: look at it", nil
	}
	return writes.Undone, "the switch shows " + differs, nil
}

// bringUp ends a bounce: the port is switched on.
func (p repair) bringUp(ctx context.Context) (writes.Outcome, string, error) {
	r := proto.CloneOf(p.r.Operation.Request.(*pluginv1.WritePortSettingsRequest))
	r.Bounce = 0
	_, err := p.perform(ctx, p.sw, &writes.Operation{Request: r})
	switch k := fault.KindOf(err); {
	case err == nil:
		return writes.Whole, "", nil
	case k == fault.Timeout, k == fault.Unavailable:
		return "", "", err
	}
	return writes.Left, cleanText(err.Error()), nil
}

// repairVLAN gives a VLAN that is not as asked for what it had before, where it does not.
func (p repair) repairVLAN(ctx context.Context) (writes.Outcome, string, error) {
	d, err := p.by("ReadVlans")
	if err != nil {
		return "", "", err
	}
	before, id := p.r.Before, p.r.Operation.VLAN()
	now, err := switchdriver.FindVLAN(ctx, d.(switchdriver.VLANReader), p.sw, id) // Shown has read with it
	if err != nil {
		return "", "", err
	}
	switch {
	case now == nil && before == nil, now != nil && before != nil && switchdriver.PortsDiffer(before, now) == "":
		return writes.Undone, "", nil
	case before == nil:
		_, err = p.perform(
			ctx,
			p.sw,
			&writes.Operation{Request: &pluginv1.DeleteVlanRequest{VlanId: id}},
		)
	default:
		_, err = p.perform(ctx, p.sw, &writes.Operation{
			Request: &pluginv1.WriteVlanRequest{
				Vlan:     before,
				Create:   now == nil,
				SetPorts: true,
			}})
	}
	switch k := fault.KindOf(err); {
	case err == nil:
		return writes.Undone, "", nil
	case k == fault.Timeout, k == fault.Unavailable:
		return "", "", err
	}
	return writes.Left, cleanText(err.Error()), nil
}

// wasMade reports whether the profile or rule that was to be made is there, be it otherwise.
func (p repair) wasMade(ctx context.Context) bool {
	asked, ok := p.r.Operation.Request.(*pluginv1.ApplyAclRequest)
	d, err := p.by("ReadAcl")
	if !ok || err != nil {
		return false
	}
	table, err := d.(switchdriver.ACLReader).ReadACL(ctx, p.sw) // Shown has read with it
	have := switchdriver.FindACL(table, asked.Profile)
	return err == nil && (asked.Action == switchdriver.ACLCreateProfile && have != nil ||
		asked.Action == switchdriver.ACLSetRule && switchdriver.FindACLRule(have, asked.Rule.GetRuleId()) != nil)
}
