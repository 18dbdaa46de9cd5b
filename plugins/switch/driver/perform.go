package driver

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Perform has the driver of a switch that has an operation carry it out.
func (c *Chooser) Perform(ctx context.Context, sw *switchdriver.Switch, o *writes.Operation) (lines []string, err error) {
	choice, sw, err := c.Find(ctx, sw, o.Name)
	if err != nil {
		return nil, err
	}
	return choice.Perform(ctx, sw, o)
}

// carryOut calls the method of a driver that an operation names. The driver must have it.
func carryOut(ctx context.Context, d any, sw *switchdriver.Switch, o *writes.Operation) (lines []string, err error) {
	switch o.Name {
	case "WriteVlan":
		_, err = d.(switchdriver.VLANWriter).WriteVLAN(ctx, sw, o.VLAN, o.Create, o.SetPorts)
	case "DeleteVlan":
		err = d.(switchdriver.VLANWriter).DeleteVLAN(ctx, sw, o.VLAN.VlanId)
	case "WriteFdbEntry":
		err = d.(switchdriver.FDBWriter).WriteFDBEntry(ctx, sw, o.FDB)
	case "DeleteFdbEntry":
		err = d.(switchdriver.FDBWriter).DeleteFDBEntry(ctx, sw, o.FDB.VlanId, o.FDB.Mac)
	case "WriteStp":
		err = d.(switchdriver.STPWriter).WriteSTP(ctx, sw, o.Port, o.Enable)
	case "WriteArpEntry":
		err = d.(switchdriver.ARPWriter).WriteARPEntry(ctx, sw, o.ARP, o.Prefix)
	case "DeleteArpEntry":
		err = d.(switchdriver.ARPWriter).DeleteARPEntry(ctx, sw, o.ARP.IpAddress)
	case "ApplyAcl":
		err = d.(switchdriver.ACLApplier).ApplyACL(ctx, sw, o.ACL.Action, o.ACL.Profile, o.ACL.Rule)
	case "ApplySettings":
		settings := proto.CloneOf(o.Settings)
		settings.Switch = sw
		return d.(switchdriver.SettingsApplier).ApplySettings(ctx, settings)
	default:
		err = fault.New(fault.Internal, "the operation %s is not known", o.Name)
	}
	return nil, err
}

// maxReport bounds the lines that a driver may report.
const maxReport = 100

// perform has the plugin carry an operation out and reads the result back. What is noted before it, who
// makes the change and what a VLAN was, is what a repair needs: the steps of a plugin are not known. When
// the driver does not say whether the change was made, it is to be repaired.
func (g *checked) perform(ctx context.Context, sw *switchdriver.Switch, o *writes.Operation) (lines []string, err error) {
	if o.Settings == nil || !o.Settings.DryRun {
		var before *switchdriver.VLAN
		if o.VLAN != nil {
			if r, err := reading[switchdriver.VLANReader](g, "ReadVlans"); err == nil {
				if before, err = vlanOf(ctx, r, sw, o.VLAN.VlanId); err != nil {
					return nil, err
				}
			}
		}
		if err := writes.Begin(ctx, writes.Plan{Driver: g.name, Before: before}); err != nil {
			return nil, err
		}
		defer func() {
			if k := fault.KindOf(err); err != nil && (k == fault.Timeout || k == fault.Unavailable || k == fault.Internal) {
				writes.Keep(ctx)
			}
		}()
	}
	lines, err = call(ctx, g, sw, func(ctx context.Context) ([]string, error) { return carryOut(ctx, g.client, sw, o) })
	lines = lines[:min(len(lines), maxReport)]
	for i := range lines {
		lines[i] = clean(lines[i], maxFaultText)
	}
	if err != nil || o.Settings != nil {
		return lines, err
	}
	differs, err := writes.ReadBack(ctx, func() (string, error) { return g.shows(ctx, sw, o) })
	switch {
	case errors.Is(err, &fault.Error{Kind: fault.Unsupported}): // nothing can read it: the driver's word counts
		return lines, nil
	case err == nil && differs != "":
		err = fault.Device(fault.Downstream, "the driver %s says that the change of switch %s is made, but it shows %s", g.name, switchdriver.Label(sw), differs)
	}
	return lines, err
}

// reading returns what reads an operation's result: the driver itself, else the standard one.
func reading[T any](g *checked, operation string) (T, error) {
	if g.has[operation] {
		return any(g).(T), nil
	}
	t, ok := g.c.opt.Standard.(T)
	if !ok {
		return t, fault.New(fault.Unsupported, "no driver can read this back")
	}
	return t, nil
}

// shows says how the switch does not show a change; empty if it does. What no driver
// can read is fault.Unsupported.
func (g *checked) shows(ctx context.Context, sw *switchdriver.Switch, op *writes.Operation) (string, error) {
	switch op.Name {
	case "WriteVlan", "DeleteVlan":
		r, err := reading[switchdriver.VLANReader](g, "ReadVlans")
		if err != nil {
			return "", err
		}
		now, err := vlanOf(ctx, r, sw, op.VLAN.VlanId)
		return vlanDiffers(op, now), err
	case "WriteFdbEntry", "DeleteFdbEntry":
		r, err := reading[switchdriver.FDBReader](g, "ReadFdb")
		if err != nil {
			return "", err
		}
		e, err := r.ReadFDB(ctx, sw, op.FDB.VlanId, op.FDB.Mac)
		gone := errors.Is(err, &fault.Error{Kind: fault.NotFound}) || err == nil && len(e) == 0
		switch {
		case err != nil && !gone:
			return "", err
		case op.Name == "DeleteFdbEntry" && !gone && e[0].Type == switchdriver.FDBMgmt:
			return "the entry still", nil
		case op.Name == "WriteFdbEntry" && (gone || e[0].Port != op.FDB.Port):
			return "another entry, or none", nil
		}
		return "", nil
	case "WriteStp":
		r, err := reading[switchdriver.STPReader](g, "ReadStp")
		if err != nil {
			return "", err
		}
		if op.Port == 0 && !g.has["ReadStp"] {
			return "", fault.New(fault.Unsupported, "only the driver knows the state of the whole switch")
		}
		ports, on, err := r.ReadSTP(ctx, sw, op.Port)
		if op.Port != 0 && len(ports) == 1 {
			on = ports[0].Enabled
		}
		if err == nil && on != op.Enable {
			return fmt.Sprintf("spanning tree enabled %v", on), nil
		}
		return "", err
	case "WriteArpEntry", "DeleteArpEntry":
		r, err := reading[switchdriver.ARPReader](g, "ReadArp")
		if err != nil {
			return "", err
		}
		e, err := r.ReadARP(ctx, sw, op.ARP.IpAddress)
		gone := errors.Is(err, &fault.Error{Kind: fault.NotFound}) || err == nil && len(e) == 0
		switch {
		case err != nil && !gone:
			return "", err
		case op.Name == "DeleteArpEntry" && !gone:
			return "the entry still", nil
		case op.Name == "WriteArpEntry" && (gone || e[0].Mac != op.ARP.Mac):
			return "another entry, or none", nil
		}
		return "", nil
	case "ApplyAcl":
		r, err := reading[switchdriver.ACLReader](g, "ReadAcl")
		if err != nil {
			return "", err
		}
		return aclDiffers(ctx, r, sw, op.ACL)
	}
	return "", fault.New(fault.Unsupported, "no driver can read this back")
}
