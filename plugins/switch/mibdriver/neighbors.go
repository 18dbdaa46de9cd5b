package mibdriver

import (
	"context"
	"net/netip"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
)

// maxNeighbours bounds what one switch may tell.
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
		row: mib.LLDPRemote, address: mib.LLDPManagement, protocol: discovery.LLDP,
	}
	lldpV2 = lldpColumns{
		local: []string{mib.LLDPV2LocPortSubtype, mib.LLDPV2LocPortID, mib.LLDPV2LocPortDesc},
		remote: []string{mib.LLDPV2RemChassisSubtype, mib.LLDPV2RemChassisID, mib.LLDPV2RemPortSubtype, mib.LLDPV2RemPortID,
			mib.LLDPV2RemPortDesc, mib.LLDPV2RemSysName, mib.LLDPV2RemManIfSubtype},
		row: mib.LLDPV2Remote, address: mib.LLDPV2Management, protocol: discovery.LLDPV2,
	}
)

// neighbours reads all that tells of neighbours, ports' own identifiers included.
// Tables the switch does not serve are not asked for; when it seems to serve none,
// LLDP-MIB's are, as some agents have tables and no scalars.
func (d *Driver) neighbours(ctx context.Context, t snmp.Target, which sources, tables *discovery.Tables) (err error) {
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
	return d.remotes(ctx, t, which, tables)
}

// remotes reads the tables of neighbours only.
func (d *Driver) remotes(ctx context.Context, t snmp.Target, which sources, tables *discovery.Tables) (err error) {
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
	if which.cdp {
		tables.IfRemotes[1], err = d.cdpRemotes(ctx, t)
	}
	return err
}

func (d *Driver) lldpPorts(ctx context.Context, t snmp.Target, m *lldpColumns) (map[uint32]discovery.LLDPPort, error) {
	out := map[uint32]discovery.LLDPPort{}
	err := d.snmp.Walk(ctx, t, m.local, func(c int, ix []uint32, v snmp.Value) error {
		if len(ix) != 1 {
			return nil
		}
		l := out[ix[0]]
		switch c {
		case 0:
			l.ID.Subtype = int32(v.Int())
		case 1:
			l.ID.ID = v.Bytes()
		case 2:
			l.Desc = mib.Text(v.Peek())
		}
		out[ix[0]] = l
		return nil
	})
	return out, err
}

func (d *Driver) lldpRemotes(ctx context.Context, t snmp.Target, m *lldpColumns) (map[mib.RemoteIndex]*discovery.Neighbor, error) {
	out := map[mib.RemoteIndex]*discovery.Neighbor{}
	addresses := map[mib.RemoteIndex][]netip.Addr{}
	err := d.snmp.WalkFrom(ctx, t, firstRows, m.remote, func(c int, ix []uint32, v snmp.Value) error {
		if c == 6 {
			if row, a, ok := m.address(ix); ok && len(addresses) < maxNeighbours {
				addresses[row] = append(addresses[row], a)
			}
			return nil
		}
		row, ok := m.row(ix)
		if !ok {
			return nil
		}
		n := neighborAt(out, row, m.protocol)
		if n == nil {
			return nil
		}
		switch c {
		case 0:
			n.Chassis.Subtype = int32(v.Int())
		case 1:
			n.Chassis.ID = v.Bytes()
		case 2:
			n.Port.Subtype = int32(v.Int())
		case 3:
			n.Port.ID = v.Bytes()
		case 4:
			n.PortDesc = mib.Text(v.Peek())
		case 5:
			n.SysName = mib.Text(v.Peek())
		}
		return nil
	})
	for row, list := range addresses {
		if n := out[row]; n != nil {
			n.Addresses = list
		}
	}
	return out, err
}

// neighborAt returns the neighbour of a row, made when it is new; nil when there are
// too many.
func neighborAt(rows map[mib.RemoteIndex]*discovery.Neighbor, row mib.RemoteIndex, protocol string) *discovery.Neighbor {
	n := rows[row]
	if n == nil && len(rows) < maxNeighbours {
		n = &discovery.Neighbor{Protocol: protocol}
		rows[row] = n
	}
	return n
}
