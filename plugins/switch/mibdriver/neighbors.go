package mibdriver

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
)

// maxNeighbours is the maximum number of neighbours that one switch may report.
const maxNeighbours = 4096

// lldpColumns are the columns of one of the two LLDP MIBs: three of the local ports
// and seven of the neighbours, the last of which has an index of its own.
type lldpColumns struct {
	local, remote []string
	row           func([]uint32) (mib.RemoteIndex, bool)
	address       func([]uint32) (mib.RemoteIndex, netip.Addr, bool)
	protocol      string
}

var (
	lldpV1 = lldpColumns{
		local: []string{mib.LLDPLocPortSubtype, mib.LLDPLocPortID, mib.LLDPLocPortDesc},
		remote: []string{mib.LLDPRemChassisSubtype, mib.LLDPRemChassisID, mib.LLDPRemPortSubtype, mib.LLDPRemPortID,
			mib.LLDPRemPortDesc, mib.LLDPRemSysName, mib.LLDPRemManIfSubtype},
		row:      mib.LLDPRemote,
		address:  mib.LLDPManagement,
		protocol: discovery.LLDP,
	}
	lldpV2 = lldpColumns{
		local: []string{mib.LLDPV2LocPortSubtype, mib.LLDPV2LocPortID, mib.LLDPV2LocPortDesc},
		remote: []string{mib.LLDPV2RemChassisSubtype, mib.LLDPV2RemChassisID, mib.LLDPV2RemPortSubtype, mib.LLDPV2RemPortID,
			mib.LLDPV2RemPortDesc, mib.LLDPV2RemSysName, mib.LLDPV2RemManIfSubtype},
		row:      mib.LLDPV2Remote,
		address:  mib.LLDPV2Management,
		protocol: discovery.LLDPV2,
	}
)

// readNeighbors reads all neighbour tables, including the ports' own identifiers.
// Tables the switch does not serve are not asked for; when it seems to serve none,
// LLDP-MIB's are, as some agents have tables and no scalars.
func (d *Driver) readNeighbors(
	ctx context.Context,
	t snmp.Target,
	which sources,
	tables *discovery.Tables,
) (err error) {
	if which.lldp || !which.lldpV2 && !which.cdp {
		if tables.LLDPPorts, err = d.lldpPorts(ctx, t, &lldpV1); err != nil {
			return err
		}
	}
	if which.lldpV2 && len(tables.LLDPPorts) == 0 {
		if tables.IfPorts, err = d.lldpPorts(ctx, t, &lldpV2); err != nil {
			return err
		}
	}
	return d.readRemotes(ctx, t, which, tables)
}

// readRemotes reads the tables of neighbours only.
func (d *Driver) readRemotes(
	ctx context.Context,
	t snmp.Target,
	which sources,
	tables *discovery.Tables,
) (err error) {
	if which.lldp || !which.lldpV2 && !which.cdp {
		if tables.Remotes, err = d.lldpRemotes(ctx, t, &lldpV1); err != nil {
			return err
		}
	}
	if which.lldpV2 && len(tables.Remotes) == 0 {
		if tables.IfRemotes[0], err = d.lldpRemotes(ctx, t, &lldpV2); err != nil {
			return err
		}
	}
	for i, of := range []struct {
		served bool
		read   func(context.Context, snmp.Target) (map[mib.RemoteIndex]*discovery.Neighbor, error)
	}{{which.cdp || which.cdpRows, d.cdpRemotes}, {which.fdp, d.fdpRemotes}, {which.edp, d.edpRemotes}} {
		if !of.served {
			continue
		}
		if tables.IfRemotes[1+i], err = of.read(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

func (d *Driver) lldpPorts(
	ctx context.Context,
	t snmp.Target,
	m *lldpColumns,
) (map[uint32]discovery.LLDPPort, error) {
	out := map[uint32]discovery.LLDPPort{}
	err := d.walkColumns(ctx, t, 0, fieldColumn(m.local[0], out, func(l *discovery.LLDPPort, v snmp.Value) {
		l.ID.Subtype = int32(v.Int())
	}),
		fieldColumn(m.local[1], out, func(l *discovery.LLDPPort, v snmp.Value) {
			l.ID.ID = v.Bytes()
		}),
		fieldColumn(m.local[2], out, func(l *discovery.LLDPPort, v snmp.Value) {
			l.Desc = mib.Text(v.Peek())
		}))
	return out, err
}

// remotes are the rows of a table of neighbours.
type remotes struct {
	protocol string
	row      func([]uint32) (mib.RemoteIndex, bool)
	all      map[mib.RemoteIndex]*discovery.Neighbor
}

// neighborColumn is a column of the table. Rows beyond a bound are not taken.
func (r *remotes) neighborColumn(oid string, set func(*discovery.Neighbor, snmp.Value)) column {
	return column{oid, func(ix []uint32, v snmp.Value) {
		row, ok := r.row(ix)
		n := r.all[row]
		if ok && n == nil && len(r.all) < maxNeighbours {
			n = &discovery.Neighbor{Protocol: r.protocol}
			r.all[row] = n
		}
		if ok && n != nil {
			set(n, v)
		}
	}}
}

func (d *Driver) lldpRemotes(
	ctx context.Context,
	t snmp.Target,
	m *lldpColumns,
) (map[mib.RemoteIndex]*discovery.Neighbor, error) {
	r := remotes{m.protocol, m.row, map[mib.RemoteIndex]*discovery.Neighbor{}}
	addresses := map[mib.RemoteIndex][]netip.Addr{}
	err := d.walkColumns(ctx, t, firstRows, r.neighborColumn(m.remote[0], func(n *discovery.Neighbor, v snmp.Value) {
		n.Chassis.Subtype = int32(v.Int())
	}),
		r.neighborColumn(m.remote[1], func(n *discovery.Neighbor, v snmp.Value) {
			n.Chassis.ID = v.Bytes()
		}),
		r.neighborColumn(m.remote[2], func(n *discovery.Neighbor, v snmp.Value) {
			n.Port.Subtype = int32(v.Int())
		}),
		r.neighborColumn(m.remote[3], func(n *discovery.Neighbor, v snmp.Value) {
			n.Port.ID = v.Bytes()
		}),
		r.neighborColumn(m.remote[4], func(n *discovery.Neighbor, v snmp.Value) {
			n.PortDesc = mib.Text(v.Peek())
		}),
		r.neighborColumn(m.remote[5], func(n *discovery.Neighbor, v snmp.Value) {
			n.SysName = mib.Text(v.Peek())
		}),
		column{m.remote[6], func(ix []uint32, _ snmp.Value) {
			row, a, ok := m.address(ix)
			if ok && len(addresses) < maxNeighbours {
				addresses[row] = append(addresses[row], a)
			}
		}})
	for row, list := range addresses {
		if n := r.all[row]; n != nil {
			n.Addresses = list
		}
	}
	return r.all, err
}

// The values of CiscoNetworkProtocol that are addresses, and the subtype of a port
// id that is an interface's name.
const (
	cdpIPv4       = 1
	cdpIPv6       = 20
	interfaceName = 5
)

// cdpRemotes reads cdpCacheTable. A device's id is a name or a serial number of
// whatever form: an identifier without a subtype.
func (d *Driver) cdpRemotes(
	ctx context.Context,
	t snmp.Target,
) (map[mib.RemoteIndex]*discovery.Neighbor, error) {
	r := remotes{discovery.CDP, mib.CDPRemote, map[mib.RemoteIndex]*discovery.Neighbor{}}
	kinds := map[*discovery.Neighbor]int64{}
	addresses := map[*discovery.Neighbor][]byte{}
	err := d.walkColumns(ctx, t, firstRows, r.neighborColumn(mib.CDPAddressType, func(n *discovery.Neighbor, v snmp.Value) {
		kinds[n] = v.Int()
	}),
		r.neighborColumn(mib.CDPAddress, func(n *discovery.Neighbor, v snmp.Value) {
			addresses[n] = v.Bytes()
		}),
		r.neighborColumn(mib.CDPDeviceID, func(n *discovery.Neighbor, v snmp.Value) {
			n.Chassis.ID = v.Bytes()
		}),
		r.neighborColumn(mib.CDPDevicePort, func(n *discovery.Neighbor, v snmp.Value) {
			n.Port = discovery.Identifier{
				Subtype: interfaceName,
				ID:      v.Bytes(),
			}
		}),
		r.neighborColumn(mib.CDPSysName, func(n *discovery.Neighbor, v snmp.Value) {
			n.SysName = mib.Text(v.Peek())
		}))
	for _, n := range r.all {
		if n.SysName == "" {
			n.SysName = cdpName(n.Chassis)
		}
		a, ok := netip.AddrFromSlice(addresses[n])
		if ok && (kinds[n] == cdpIPv4 && a.Is4() || kinds[n] == cdpIPv6 && a.Is6()) {
			n.Addresses = []netip.Addr{a}
		}
	}
	return r.all, err
}

// cdpName is the name in a device id: some devices add their serial number in
// parentheses. One of other octets than text is no name.
func cdpName(id discovery.Identifier) string {
	if id.Binary() {
		return ""
	}
	name, _, _ := strings.Cut(mib.Text(id.ID), "(")
	return strings.TrimSpace(name)
}

// fdpRemotes reads snFdpCacheTable, which is that of CDP in fewer words.
func (d *Driver) fdpRemotes(
	ctx context.Context,
	t snmp.Target,
) (map[mib.RemoteIndex]*discovery.Neighbor, error) {
	r := remotes{discovery.FDP, mib.CDPRemote, map[mib.RemoteIndex]*discovery.Neighbor{}}
	err := d.walkColumns(ctx, t, firstRows, r.neighborColumn(mib.FDPDeviceID, func(n *discovery.Neighbor, v snmp.Value) {
		n.Chassis.ID = v.Bytes()
		n.SysName = cdpName(n.Chassis)
	}), r.neighborColumn(mib.FDPAddress, func(n *discovery.Neighbor, v snmp.Value) {
		if a, ok := netip.AddrFromSlice(v.Peek()); ok {
			n.Addresses = []netip.Addr{a}
		}
	}), r.neighborColumn(mib.FDPDevicePort, func(n *discovery.Neighbor, v snmp.Value) {
		n.Port = discovery.Identifier{
			Subtype: interfaceName,
			ID:      v.Bytes(),
		}
	}))
	return r.all, err
}

// chassisAddress is the subtype of a chassis id that is a MAC address (IEEE 802.1AB, table 8-2).
const chassisAddress = 4

// edpRemotes reads extremeEdpTable. Ports are numbers, of stacks with the slot before.
func (d *Driver) edpRemotes(
	ctx context.Context,
	t snmp.Target,
) (map[mib.RemoteIndex]*discovery.Neighbor, error) {
	var m mib.MAC
	r := remotes{discovery.EDP, func(ix []uint32) (row mib.RemoteIndex, ok bool) {
		row, m, ok = mib.EDPRemote(ix)
		return row, ok
	}, map[mib.RemoteIndex]*discovery.Neighbor{}}
	slots := map[*discovery.Neighbor]uint32{}
	ports := map[*discovery.Neighbor]uint32{}
	err := d.walkColumns(ctx, t, firstRows, r.neighborColumn(mib.EDPName, func(n *discovery.Neighbor, v snmp.Value) {
		n.Chassis = discovery.Identifier{
			Subtype: chassisAddress,
			ID:      m.Octets(),
		}
		n.SysName = mib.Text(v.Peek())
	}), r.neighborColumn(mib.EDPSlot, func(n *discovery.Neighbor, v snmp.Value) {
		slots[n] = v.Uint32()
	}),
		r.neighborColumn(mib.EDPPort, func(n *discovery.Neighbor, v snmp.Value) {
			ports[n] = v.Uint32()
		}))
	for _, n := range r.all {
		if ports[n] == 0 {
			continue
		}
		n.Port = discovery.Identifier{
			Subtype: interfaceName,
			ID:      strconv.AppendUint(nil, uint64(ports[n]), 10),
		}
		if slots[n] != 0 {
			n.Port.ID = fmt.Appendf(nil, "%d:%d", slots[n], ports[n])
		}
	}
	return r.all, err
}
