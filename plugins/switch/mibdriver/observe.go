package mibdriver

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/switchdriver"
)

// firstRows is how many neighbours are asked for at first: most switches have few,
// and asking for more would fetch the tables behind.
const firstRows = 4

// Observe reads what a discovery needs of a switch. A table that is missing is
// noted, not an error. On error the observation holds what came before it.
func (d *Driver) Observe(ctx context.Context, sw *switchdriver.Switch) (*discovery.Observation, error) {
	o := &discovery.Observation{Node: mib.MAC(sw.NodeId), Model: sw.Model}
	o.Address, _ = netip.ParseAddr(sw.Address)
	t, err := reader(sw)
	if err != nil {
		return o, err
	}
	if err := d.identity(ctx, t, o); err != nil {
		return o, deviceFault(sw, err)
	}
	tables := discovery.Tables{BasePorts: map[uint32]uint32{}, Interfaces: map[uint32]discovery.Interface{},
		LLDPPorts: map[uint32]discovery.LLDPPort{}, Remotes: map[mib.RemoteIndex]*discovery.Neighbor{}}
	err = tolerate(o, d.ports(ctx, t, &tables))
	if err == nil {
		err = tolerate(o, d.neighbours(ctx, t, &tables))
	}
	discovery.Assemble(o, tables)
	o.Observed = time.Now()
	return o, deviceFault(sw, err)
}

// Identify reads sysObjectID and sysDescr.
func (d *Driver) Identify(ctx context.Context, sw *switchdriver.Switch) (objectID, descr string, err error) {
	t, err := reader(sw)
	if err != nil {
		return "", "", err
	}
	v, err := d.snmp.Get(ctx, t, mib.SysObjectID, mib.SysDescr)
	if err != nil {
		return "", "", deviceFault(sw, err)
	}
	return v[0].ObjectID(), mib.Text(v[1].Peek()), nil
}

// tolerate turns what spoils one table only into a note.
func tolerate(o *discovery.Observation, err error) error {
	var loop *snmp.LoopError
	var e *snmp.Error
	if errors.As(err, &loop) || (errors.As(err, &e) && e.Status != 0) {
		o.Notes = append(o.Notes, err.Error())
		return nil
	}
	return err
}

func (d *Driver) identity(ctx context.Context, t snmp.Target, o *discovery.Observation) error {
	v, err := d.snmp.Get(ctx, t, mib.SysObjectID, mib.SysDescr, mib.SysName, mib.BaseBridgeAddress,
		mib.LLDPLocChassisSubtype, mib.LLDPLocChassisID, mib.LLDPLocSysName)
	if err != nil {
		return err
	}
	o.SysOID, o.SysDesc, o.SysName = v[0].ObjectID(), mib.Text(v[1].Peek()), mib.Text(v[2].Peek())
	o.Bridge = mib.MACOf(v[3].Peek())
	o.Chassis = discovery.Identifier{Subtype: int32(v[4].Int()), ID: v[5].Bytes()}
	if o.SysName == "" {
		o.SysName = mib.Text(v[6].Peek())
	}
	return nil
}

func (d *Driver) ports(ctx context.Context, t snmp.Target, tables *discovery.Tables) error {
	columns := []string{mib.BasePortIfIndex, mib.IfDescr, mib.IfPhysAddress, mib.IfAdminStatus, mib.IfOperStatus,
		mib.IfName, mib.IfHighSpeed, mib.LLDPLocPortSubtype, mib.LLDPLocPortID, mib.LLDPLocPortDesc}
	return d.snmp.Walk(ctx, t, columns, func(c int, ix []uint32, v snmp.Value) error {
		if len(ix) != 1 {
			return nil
		}
		f, l := tables.Interfaces[ix[0]], tables.LLDPPorts[ix[0]]
		switch c {
		case 0:
			tables.BasePorts[ix[0]] = v.Uint32()
			return nil
		case 1:
			f.Descr = mib.Text(v.Peek())
		case 2:
			f.MAC = mib.MACOf(v.Peek())
		case 3:
			f.Admin = int32(v.Int())
		case 4:
			f.Oper = int32(v.Int())
		case 5:
			f.Name = mib.Text(v.Peek())
		case 6:
			f.Speed = uint64(v.Uint32()) * 1_000_000
		case 7:
			l.ID.Subtype = int32(v.Int())
		case 8:
			l.ID.ID = v.Bytes()
		case 9:
			l.Desc = mib.Text(v.Peek())
		}
		if c < 7 {
			tables.Interfaces[ix[0]] = f
		} else {
			tables.LLDPPorts[ix[0]] = l
		}
		return nil
	})
}

func (d *Driver) neighbours(ctx context.Context, t snmp.Target, tables *discovery.Tables) error {
	columns := []string{mib.LLDPRemChassisSubtype, mib.LLDPRemChassisID, mib.LLDPRemPortSubtype, mib.LLDPRemPortID,
		mib.LLDPRemPortDesc, mib.LLDPRemSysName, mib.LLDPRemManIfSubtype}
	addresses := map[mib.RemoteIndex][]netip.Addr{}
	err := d.snmp.WalkFrom(ctx, t, firstRows, columns, func(c int, ix []uint32, v snmp.Value) error {
		if c == 6 {
			if row, a, ok := mib.LLDPManagement(ix); ok && len(addresses) < maxNeighbours {
				addresses[row] = append(addresses[row], a)
			}
			return nil
		}
		row, ok := mib.LLDPRemote(ix)
		if !ok {
			return nil
		}
		n := tables.Remotes[row]
		if n == nil {
			if len(tables.Remotes) >= maxNeighbours {
				return nil
			}
			n = &discovery.Neighbor{Protocol: "lldp"}
			tables.Remotes[row] = n
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
		if n := tables.Remotes[row]; n != nil {
			n.Addresses = list
		}
	}
	return err
}

// maxNeighbours bounds what one switch may tell.
const maxNeighbours = 4096
