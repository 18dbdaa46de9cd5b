package driver

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"ctl.internal/plugins/switch/journal"
	"ctl.internal/plugins/switch/mib"
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
	op := &journal.Operation{Driver: g.name, Name: "WriteFdbEntry", FDB: e}
	return g.change(ctx, sw, fmt.Sprintf("setting the forwarding entry of %s", mib.MAC(e.Mac)), op,
		func(ctx context.Context) error { return g.client.WriteFDBEntry(ctx, sw, e) })
}

// DeleteFDBEntry implements the operation.
func (g *guard) DeleteFDBEntry(ctx context.Context, sw *switchdriver.Switch, vlanID uint32, mac uint64) error {
	op := &journal.Operation{Driver: g.name, Name: "DeleteFdbEntry", FDB: &switchdriver.FDBEntry{VlanId: vlanID, Mac: mac}}
	return g.change(ctx, sw, fmt.Sprintf("removing the forwarding entry of %s", mib.MAC(mac)), op,
		func(ctx context.Context) error { return g.client.DeleteFDBEntry(ctx, sw, vlanID, mac) })
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
	op := &journal.Operation{Driver: g.name, Name: "WriteStp", Port: port, Enable: enable}
	return g.change(ctx, sw, "setting spanning tree", op, func(ctx context.Context) error { return g.client.WriteSTP(ctx, sw, port, enable) })
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
	op := &journal.Operation{Driver: g.name, Name: "WriteArpEntry", ARP: e}
	return g.change(ctx, sw, "setting the ARP entry of "+e.IpAddress, op,
		func(ctx context.Context) error { return g.client.WriteARPEntry(ctx, sw, e, prefixLength) })
}

// DeleteARPEntry implements the operation.
func (g *guard) DeleteARPEntry(ctx context.Context, sw *switchdriver.Switch, address string) error {
	op := &journal.Operation{Driver: g.name, Name: "DeleteArpEntry", ARP: &switchdriver.ARPEntry{IpAddress: address}}
	return g.change(ctx, sw, "removing the ARP entry of "+address, op,
		func(ctx context.Context) error { return g.client.DeleteARPEntry(ctx, sw, address) })
}

// ApplySettings implements the operation.
func (g *guard) ApplySettings(ctx context.Context, s *switchdriver.Settings) ([]string, error) {
	report, err := call(ctx, g, s.Switch, func(ctx context.Context) ([]string, error) { return g.client.ApplySettings(ctx, s) })
	if len(report) > 100 {
		report = report[:100]
	}
	for i := range report {
		report[i] = clean(report[i], maxFaultText)
	}
	return report, err
}

// change makes a change that one call makes, and reads it back.
func (g *guard) change(ctx context.Context, sw *switchdriver.Switch, what string, op *journal.Operation, f func(context.Context) error) error {
	return g.journaled(ctx, sw, what, op, func() error {
		if _, err := call(ctx, g, sw, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) }); err != nil {
			return err
		}
		return g.confirm(ctx, sw, func(ctx context.Context) (string, error) { return g.shows(ctx, sw, op) })
	})
}

// journaled runs do with a record in the journal. When the driver does not say whether
// the change was made, the record stays and is settled before the next one.
func (g *guard) journaled(ctx context.Context, sw *switchdriver.Switch, what string, op *journal.Operation, do func() error) error {
	entry, err := g.c.opt.Journal.Begin(ctx, journal.Record{Node: sw.NodeId, Switch: name(sw), What: what, Operation: op})
	if err != nil {
		return err
	}
	err = do()
	if k := fault.KindOf(err); err != nil && (k == fault.Timeout || k == fault.Unavailable || k == fault.Internal) {
		entry.Keep()
	}
	entry.Done(ctx)
	return err
}

// shows tells how the switch does not show a change; empty if it does. What nothing
// reads is fault.Unsupported.
func (g *guard) shows(ctx context.Context, sw *switchdriver.Switch, op *journal.Operation) (string, error) {
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
		if err != nil || op.ACL == nil { // nil: of a journal from before access lists were read
			return "", fault.New(fault.Unsupported, "nothing reads this")
		}
		return aclDiffers(ctx, r, sw, op.ACL)
	}
	return "", fault.New(fault.Unsupported, "nothing reads this")
}
