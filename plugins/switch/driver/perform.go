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
		err = fault.Device(fault.Downstream, "the driver %s reports that the change of switch %s was made, but the switch shows %s", g.name, switchdriver.Label(sw), differs)
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

// shown reads with what reads an operation's result; f is called with it.
func shown[T, A any](g *checked, operation string, f func(T) (A, error)) (answer A, err error) {
	r, err := reading[T](g, operation)
	if err != nil {
		return answer, err
	}
	return f(r)
}

// entryDiffers says how a table that was read for one entry does not show its change. is reports whether an entry
// is the one that was written, or was to be removed.
func entryDiffers[E any](list []E, err error, removed bool, is func(E) bool) (string, error) {
	none := errors.Is(err, &fault.Error{Kind: fault.NotFound}) || err == nil && len(list) == 0
	there := !none && err == nil && is(list[0])
	switch {
	case err != nil && !none:
		return "", err
	case removed && there:
		return "the entry still", nil
	case !removed && !there:
		return "another entry, or none", nil
	}
	return "", nil
}

// shows says how the switch does not show a change; empty if it does. What no driver
// can read is fault.Unsupported.
func (g *checked) shows(ctx context.Context, sw *switchdriver.Switch, op *writes.Operation) (string, error) {
	switch op.Name {
	case "WriteVlan", "DeleteVlan":
		now, err := shown(g, "ReadVlans", func(r switchdriver.VLANReader) (*switchdriver.VLAN, error) { return vlanOf(ctx, r, sw, op.VLAN.VlanId) })
		return vlanDiffers(op, now), err
	case "WriteFdbEntry", "DeleteFdbEntry":
		list, err := shown(g, "ReadFdb", func(r switchdriver.FDBReader) ([]*switchdriver.FDBEntry, error) {
			return r.ReadFDB(ctx, sw, op.FDB.VlanId, op.FDB.Mac)
		})
		removed := op.Name == "DeleteFdbEntry"
		return entryDiffers(list, err, removed, func(e *switchdriver.FDBEntry) bool {
			return removed && e.Type == switchdriver.FDBMgmt || !removed && e.Port == op.FDB.Port
		})
	case "WriteStp":
		if op.Port == 0 && !g.has["ReadStp"] {
			return "", fault.New(fault.Unsupported, "only the driver knows the state of the whole switch")
		}
		on, err := shown(g, "ReadStp", func(r switchdriver.STPReader) (bool, error) {
			ports, on, err := r.ReadSTP(ctx, sw, op.Port)
			if op.Port != 0 && len(ports) == 1 {
				on = ports[0].Enabled
			}
			return on, err
		})
		if err == nil && on != op.Enable {
			return fmt.Sprintf("spanning tree enabled %v", on), nil
		}
		return "", err
	case "WriteArpEntry", "DeleteArpEntry":
		list, err := shown(g, "ReadArp", func(r switchdriver.ARPReader) ([]*switchdriver.ARPEntry, error) {
			return r.ReadARP(ctx, sw, op.ARP.IpAddress)
		})
		removed := op.Name == "DeleteArpEntry"
		return entryDiffers(list, err, removed, func(e *switchdriver.ARPEntry) bool { return removed || e.Mac == op.ARP.Mac })
	case "ApplyAcl":
		return shown(g, "ReadAcl", func(r switchdriver.ACLReader) (string, error) { return aclDiffers(ctx, r, sw, op.ACL) })
	}
	return "", fault.New(fault.Unsupported, "no driver can read this back")
}
