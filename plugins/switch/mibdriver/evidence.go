package mibdriver

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/switchdriver"
)

// Evidence reads other evidence of links than reported neighbours: who sends on
// the segments of the ports by the spanning tree, and, unless want is empty, where
// the addresses wanted were learned.
func (d *Driver) Evidence(
	ctx context.Context,
	sw *switchdriver.Switch,
	o *discovery.Observation,
	want map[mib.MAC]bool,
) (*discovery.Evidence, error) {
	t, err := readTarget(sw)
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
	if err := tolerateTableError(o, d.readDesignated(ctx, t, o, ids, e)); err != nil {
		return nil, deviceFault(sw, err)
	}
	if len(want) == 0 {
		return e, nil
	}
	if err := tolerateTableError(o, d.readForwarding(ctx, t, ids, want, e)); err != nil {
		return nil, deviceFault(sw, err)
	}
	if err := tolerateTableError(o, d.readARP(ctx, t, e)); err != nil {
		return nil, deviceFault(sw, err)
	}
	return e, nil
}

// maxAddresses is how many IP addresses of a switch are read as evidence.
const maxAddresses = 1 << 15

// readARP reads which MAC addresses the switch knows for IP addresses.
func (d *Driver) readARP(ctx context.Context, t snmp.Target, e *discovery.Evidence) error {
	e.ARP = map[netip.Addr]mib.MAC{}
	full := errors.New("as many as are wanted")
	err := d.snmp.WalkFrom(ctx, t, 8, []string{mib.ARPPhysAddress, mib.PhysicalAddress}, func(c int, ix []uint32, v snmp.Value) error {
		index := mib.InterfaceAddress
		if c == 1 {
			index = mib.PhysicalIndex
		}
		_, a, ok := index(ix)
		if ok && mib.MACOf(v.Peek()).Unicast() {
			e.ARP[a] = mib.MACOf(v.Peek())
		}
		if len(e.ARP) >= maxAddresses {
			return full
		}
		return nil
	})
	if errors.Is(err, full) {
		return nil
	}
	return err
}

// The low bits of a port id are the port's number; IEEE 802.1D-2004 has 12, before
// it were 8. The upper ones are the priority, in steps of 16 or of 1.
const portNumberBits = 0x0fff

func (d *Driver) readDesignated(
	ctx context.Context,
	t snmp.Target,
	o *discovery.Observation,
	ids map[uint32]string,
	e *discovery.Evidence,
) error {
	bridges, ports := map[uint32]mib.MAC{}, map[uint32]uint32{}
	err := d.walkColumns(ctx, t, 0, fieldColumn(mib.StpPortDesignatedBridgeOf, bridges, func(m *mib.MAC, v snmp.Value) {
		if b := v.Peek(); len(b) == 8 {
			*m = mib.MACFromBytes(b[2:])
		}
	}), fieldColumn(mib.StpPortDesignatedPortOf, ports, func(n *uint32, v snmp.Value) {
		if b := v.Peek(); len(b) == 2 {
			*n = (uint32(b[0])<<8 | uint32(b[1])) & portNumberBits
		}
	}))
	for _, n := range slices.Sorted(maps.Keys(bridges)) {
		m := bridges[n]
		if m.Unicast() && m != o.Bridge && m != o.Node && ids[n] != "" && ports[n] != 0 {
			e.Designated = append(
				e.Designated,
				discovery.Designated{
					Port:    ids[n],
					Bridge:  m,
					FarPort: ports[n],
				},
			)
		}
	}
	return err
}

// readForwarding reads the forwarding table and keeps the addresses wanted, and a bounded number of others.
func (d *Driver) readForwarding(
	ctx context.Context,
	t snmp.Target,
	ids map[uint32]string,
	want map[mib.MAC]bool,
	e *discovery.Evidence,
) error {
	e.Seen, e.Others = map[string][]mib.MAC{}, map[mib.MAC]string{}
	rows := 0
	take := func(m mib.MAC, ok bool, v snmp.Value) {
		if !ok {
			return
		}
		rows++
		id := ids[v.Uint32()]
		switch {
		case id == "":
		case !want[m]:
			if m.Unicast() && len(e.Others) < discovery.MaxOthers {
				e.Others[m] = id
			}
		case !slices.Contains(e.Seen[id], m):
			e.Seen[id] = append(e.Seen[id], m)
		}
	}
	err := d.walkColumns(ctx, t, 0, column{mib.QTpFdbPort, func(ix []uint32, v snmp.Value) {
		_, m, ok := mib.FDBIndex(ix)
		take(m, ok, v)
	}})
	if err != nil || rows > 0 {
		return err
	}
	return d.walkColumns(ctx, t, 0, column{mib.TpFdbPort, func(ix []uint32, v snmp.Value) {
		m, ok := mib.MACFromArcs(ix)
		take(m, ok, v)
	}})
}
