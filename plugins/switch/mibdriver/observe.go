package mibdriver

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/switchdriver"
)

// firstRows is how many neighbours are asked for at first: most switches have few,
// and asking for more would fetch the tables after.
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
	which, err := d.identity(ctx, t, o)
	if err != nil {
		return o, deviceFault(sw, err)
	}
	tables := discovery.Tables{BasePorts: map[uint32]uint32{}, Interfaces: map[uint32]discovery.Interface{}}
	err = tolerate(o, d.ports(ctx, t, &tables))
	if err == nil {
		err = tolerate(o, d.neighbours(ctx, t, which, &tables))
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
	var e *snmp.Error
	if table, cut := cutTable(err); cut {
		o.Notes = append(o.Notes, err.Error())
		cuts := slices.DeleteFunc(slices.Clone(o.Cut), func(c discovery.Cut) bool { return c.Table == table })
		o.Cut = append(cuts, discovery.Cut{Table: table, Why: err.Error()})
		return nil
	}
	if errors.As(err, &e) && e.Status != 0 {
		o.Notes = append(o.Notes, err.Error())
		return nil
	}
	return err
}

// sources are the MIBs with neighbours that a switch serves.
type sources struct{ lldp, lldpV2, cdp bool }

// identity reads the scalars: who the switch is, what it serves, and when its
// tables changed.
func (d *Driver) identity(ctx context.Context, t snmp.Target, o *discovery.Observation) (sources, error) {
	v, err := d.snmp.Get(ctx, t, mib.SysObjectID, mib.SysDescr, mib.SysName, mib.BaseBridgeAddress,
		mib.LLDPLocChassisSubtype, mib.LLDPLocChassisID, mib.LLDPLocSysName,
		mib.LLDPV2LocChassisSubtype, mib.LLDPV2LocChassisID, mib.LLDPV2LocSysName, mib.CDPGlobalDeviceID,
		mib.SysUpTime, mib.IfTableLastChange, mib.LLDPRemTablesChanged, mib.LLDPV2RemTablesChanged)
	if err != nil {
		return sources{}, err
	}
	o.SysOID, o.SysDesc, o.SysName = v[0].ObjectID(), mib.Text(v[1].Peek()), mib.Text(v[2].Peek())
	o.Bridge = mib.MACOf(v[3].Peek())
	which := sources{lldp: v[5].Exists(), lldpV2: v[8].Exists(), cdp: v[10].Exists()}
	chassis, sysName := 4, 6
	if !which.lldp && which.lldpV2 {
		chassis, sysName = 7, 9
	}
	o.Chassis = discovery.Identifier{Subtype: int32(v[chassis].Int()), ID: v[chassis+1].Bytes()}
	if o.SysName == "" {
		o.SysName = mib.Text(v[sysName].Peek())
	}
	o.Device = mib.Text(v[10].Peek())
	o.Marks = marks(v[11:15])
	return which, nil
}

// marks are the values of sysUpTime and of the three times of change.
func marks(v []snmp.Value) discovery.Marks {
	m := discovery.Marks{UpTime: v[0].Uint32(), At: time.Now(), Interfaces: v[1].Uint32(), Neighbors: v[2].Uint32()}
	if m.Neighbors == 0 {
		m.Neighbors = v[3].Uint32()
	}
	return m
}

func (d *Driver) ports(ctx context.Context, t snmp.Target, tables *discovery.Tables) error {
	columns := []string{mib.BasePortIfIndex, mib.IfDescr, mib.IfPhysAddress, mib.IfAdminStatus, mib.IfOperStatus,
		mib.IfName, mib.IfHighSpeed}
	return d.snmp.Walk(ctx, t, columns, func(c int, ix []uint32, v snmp.Value) error {
		if len(ix) != 1 {
			return nil
		}
		if c == 0 {
			tables.BasePorts[ix[0]] = v.Uint32()
			return nil
		}
		f := tables.Interfaces[ix[0]]
		switch c {
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
		}
		tables.Interfaces[ix[0]] = f
		return nil
	})
}
