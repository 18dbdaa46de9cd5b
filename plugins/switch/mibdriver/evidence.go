package mibdriver

import (
	"context"
	"maps"
	"slices"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/switchdriver"
)

// Evidence reads what else tells of links than neighbours' own words: who sends on
// the segments of the ports by the spanning tree, and, unless want is empty, where
// the addresses wanted were learned.
func (d *Driver) Evidence(ctx context.Context, sw *switchdriver.Switch, o *discovery.Observation, want map[mib.MAC]bool) (*discovery.Evidence, error) {
	t, err := reader(sw)
	if err != nil {
		return nil, err
	}
	e := &discovery.Evidence{}
	ids := map[uint32]string{}
	for _, p := range o.Ports {
		if p.Bridged {
			ids[p.Number] = p.ID
		}
	}
	if err := tolerate(o, d.designated(ctx, t, o, ids, e)); err != nil {
		return nil, deviceFault(sw, err)
	}
	if len(want) == 0 {
		return e, nil
	}
	if err := tolerate(o, d.seen(ctx, t, ids, want, e)); err != nil {
		return nil, deviceFault(sw, err)
	}
	return e, nil
}

// The low bits of a port id are the port's number; IEEE 802.1D-2004 has 12, before
// it were 8. The upper ones are the priority, in steps of 16 or of 1.
const portNumberBits = 0x0fff

func (d *Driver) designated(ctx context.Context, t snmp.Target, o *discovery.Observation, ids map[uint32]string, e *discovery.Evidence) error {
	bridges, ports := map[uint32]mib.MAC{}, map[uint32]uint32{}
	err := d.snmp.Walk(ctx, t, []string{mib.StpPortDesignatedBridgeOf, mib.StpPortDesignatedPortOf}, func(c int, ix []uint32, v snmp.Value) error {
		b := v.Peek()
		switch {
		case len(ix) != 1:
		case c == 0 && len(b) == 8:
			bridges[ix[0]] = mib.MACFromBytes(b[2:])
		case c == 1 && len(b) == 2:
			ports[ix[0]] = (uint32(b[0])<<8 | uint32(b[1])) & portNumberBits
		}
		return nil
	})
	for _, n := range slices.Sorted(maps.Keys(bridges)) {
		if m := bridges[n]; m.Unicast() && m != o.Bridge && m != o.Node && ids[n] != "" && ports[n] != 0 {
			e.Designated = append(e.Designated, discovery.Designated{Port: ids[n], Bridge: m, FarPort: ports[n]})
		}
	}
	return err
}

// seen reads the forwarding table and keeps the addresses wanted.
func (d *Driver) seen(ctx context.Context, t snmp.Target, ids map[uint32]string, want map[mib.MAC]bool, e *discovery.Evidence) error {
	e.Seen = map[string][]mib.MAC{}
	rows := 0
	take := func(m mib.MAC, v snmp.Value) {
		rows++
		id := ids[v.Uint32()]
		if want[m] && id != "" && !slices.Contains(e.Seen[id], m) {
			e.Seen[id] = append(e.Seen[id], m)
		}
	}
	err := d.snmp.Walk(ctx, t, []string{mib.QTpFdbPort}, func(_ int, ix []uint32, v snmp.Value) error {
		if _, m, ok := mib.FDBIndex(ix); ok {
			take(m, v)
		}
		return nil
	})
	if err != nil || rows > 0 {
		return err
	}
	return d.snmp.Walk(ctx, t, []string{mib.TpFdbPort}, func(_ int, ix []uint32, v snmp.Value) error {
		if m, ok := mib.MACFromArcs(ix); ok {
			take(m, v)
		}
		return nil
	})
}
