package driver

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// ReadFDB implements the operation.
func (g *guard) ReadFDB(ctx context.Context, sw *switchdriver.Switch, vlanID uint32, mac uint64) ([]*switchdriver.FDBEntry, error) {
	all, err := call(ctx, g, sw, func(ctx context.Context) ([]*switchdriver.FDBEntry, error) {
		return g.client.ReadFDB(ctx, sw, vlanID, mac)
	})
	if err != nil {
		return nil, err
	}
	if len(all) > maxEntries || vlanID != 0 && len(all) > 1 {
		return nil, g.lies(sw, "%d entries of a forwarding table", len(all))
	}
	for _, e := range all {
		if e == nil || e.VlanId > maxVLANs || !mib.MAC(e.Mac).Valid() || e.Port < 1 || e.Port > maxPorts ||
			vlanID != 0 && (e.VlanId != vlanID || e.Mac != mac) {
			return nil, g.lies(sw, "the forwarding entry %v", e)
		}
	}
	return all, nil
}

// WriteFDBEntry implements the operation.
func (g *guard) WriteFDBEntry(ctx context.Context, sw *switchdriver.Switch, e *switchdriver.FDBEntry) error {
	op := &writes.Operation{Name: "WriteFdbEntry", FDB: e}
	return g.change(ctx, sw, op, func(ctx context.Context) error { return g.client.WriteFDBEntry(ctx, sw, e) })
}

// DeleteFDBEntry implements the operation.
func (g *guard) DeleteFDBEntry(ctx context.Context, sw *switchdriver.Switch, vlanID uint32, mac uint64) error {
	op := &writes.Operation{Name: "DeleteFdbEntry", FDB: &switchdriver.FDBEntry{VlanId: vlanID, Mac: mac}}
	return g.change(ctx, sw, op, func(ctx context.Context) error { return g.client.DeleteFDBEntry(ctx, sw, vlanID, mac) })
}

// ReadSTP implements the operation.
func (g *guard) ReadSTP(ctx context.Context, sw *switchdriver.Switch, port uint32) ([]*switchdriver.STPPort, bool, error) {
	type answer struct {
		ports []*switchdriver.STPPort
		on    bool
	}
	a, err := call(ctx, g, sw, func(ctx context.Context) (a answer, err error) {
		a.ports, a.on, err = g.client.ReadSTP(ctx, sw, port)
		return a, err
	})
	if err != nil {
		return nil, false, err
	}
	if len(a.ports) > maxPorts || port != 0 && len(a.ports) != 1 {
		return nil, false, g.lies(sw, "%d ports of a spanning tree", len(a.ports))
	}
	for _, p := range a.ports {
		if p == nil || p.Port < 1 || p.Port > maxPorts || port != 0 && p.Port != port || p.State < 0 || p.State > 6 ||
			len(p.DesignatedRoot) != 0 && len(p.DesignatedRoot) != 8 {
			return nil, false, g.lies(sw, "the spanning tree port %v", p)
		}
	}
	return a.ports, a.on, nil
}

// WriteSTP implements the operation.
func (g *guard) WriteSTP(ctx context.Context, sw *switchdriver.Switch, port uint32, enable bool) error {
	op := &writes.Operation{Name: "WriteStp", Port: port, Enable: enable}
	return g.change(ctx, sw, op, func(ctx context.Context) error { return g.client.WriteSTP(ctx, sw, port, enable) })
}

// ReadARP implements the operation.
func (g *guard) ReadARP(ctx context.Context, sw *switchdriver.Switch, address string) ([]*switchdriver.ARPEntry, error) {
	all, err := call(ctx, g, sw, func(ctx context.Context) ([]*switchdriver.ARPEntry, error) { return g.client.ReadARP(ctx, sw, address) })
	if err != nil {
		return nil, err
	}
	if len(all) > maxEntries {
		return nil, g.lies(sw, "%d ARP entries", len(all))
	}
	for _, e := range all {
		if _, err := netip.ParseAddr(e.GetIpAddress()); err != nil || !mib.MAC(e.Mac).Valid() || address != "" && e.IpAddress != address {
			return nil, g.lies(sw, "the ARP entry %.60q", e.GetIpAddress())
		}
	}
	return all, nil
}

// WriteARPEntry implements the operation.
func (g *guard) WriteARPEntry(ctx context.Context, sw *switchdriver.Switch, e *switchdriver.ARPEntry, prefixLength uint32) error {
	op := &writes.Operation{Name: "WriteArpEntry", ARP: e}
	return g.change(ctx, sw, op, func(ctx context.Context) error { return g.client.WriteARPEntry(ctx, sw, e, prefixLength) })
}

// DeleteARPEntry implements the operation.
func (g *guard) DeleteARPEntry(ctx context.Context, sw *switchdriver.Switch, address string) error {
	op := &writes.Operation{Name: "DeleteArpEntry", ARP: &switchdriver.ARPEntry{IpAddress: address}}
	return g.change(ctx, sw, op, func(ctx context.Context) error { return g.client.DeleteARPEntry(ctx, sw, address) })
}

// ApplySettings implements the operation. Nothing reads the settings back.
func (g *guard) ApplySettings(ctx context.Context, s *switchdriver.Settings) (report []string, err error) {
	do := func() error {
		report, err = call(ctx, g, s.Switch, func(ctx context.Context) ([]string, error) { return g.client.ApplySettings(ctx, s) })
		return err
	}
	if s.DryRun {
		err = do()
	} else {
		err = g.noted(ctx, nil, do)
	}
	if len(report) > 100 {
		report = report[:100]
	}
	for i := range report {
		report[i] = clean(report[i], maxFaultText)
	}
	return report, err
}

// change makes a change that one call makes, and reads it back.
func (g *guard) change(ctx context.Context, sw *switchdriver.Switch, op *writes.Operation, f func(context.Context) error) error {
	return g.noted(ctx, nil, func() error {
		if _, err := call(ctx, g, sw, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) }); err != nil {
			return err
		}
		return g.confirm(ctx, sw, func(ctx context.Context) (string, error) { return g.shows(ctx, sw, op) })
	})
}

// noted runs do once it is noted who makes the change, and what a VLAN was before. When
// the driver does not say whether the change was made, it is to be repaired.
func (g *guard) noted(ctx context.Context, before *switchdriver.VLAN, do func() error) error {
	if err := writes.Begin(ctx, writes.Plan{Driver: g.name, Before: before}); err != nil {
		return err
	}
	err := do()
	if k := fault.KindOf(err); err != nil && (k == fault.Timeout || k == fault.Unavailable || k == fault.Internal) {
		writes.Keep(ctx)
	}
	return err
}

// shows tells how the switch does not show a change; empty if it does. What nothing
// reads is fault.Unsupported.
func (g *guard) shows(ctx context.Context, sw *switchdriver.Switch, op *writes.Operation) (string, error) {
	switch op.Name {
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
		case op.Name == "DeleteFdbEntry" && !gone && e[0].Type == 5:
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
