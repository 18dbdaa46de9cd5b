package mibdriver

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
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
func (d *Driver) Observe(
	ctx context.Context,
	sw *switchdriver.Switch,
) (*discovery.Observation, error) {
	o := &discovery.Observation{
		Node:  mib.MAC(sw.NodeId),
		Model: sw.Model,
	}
	o.Address, _ = netip.ParseAddr(sw.Address)
	t, err := readTarget(sw)
	if err != nil {
		return o, err
	}
	which, err := d.readIdentity(ctx, t, o)
	if err != nil {
		return o, deviceFault(sw, err)
	}
	tables := discovery.Tables{
		BasePorts:  map[uint32]uint32{},
		Interfaces: map[uint32]discovery.Interface{},
	}
	err = tolerateTableError(o, d.readPorts(ctx, sw, t, o.SysOID, &tables))
	if err == nil {
		err = tolerateTableError(o, d.readNeighbors(ctx, t, which, &tables))
	}
	discovery.Assemble(o, tables)
	if err == nil {
		err = tolerateTableError(o, d.aggregates(ctx, t, o))
	}
	o.Observed = time.Now()
	return o, deviceFault(sw, err)
}

// Identify reads sysObjectID and sysDescr.
func (d *Driver) Identify(
	ctx context.Context,
	sw *switchdriver.Switch,
) (objectID, descr string, err error) {
	t, err := readTarget(sw)
	if err != nil {
		return "", "", err
	}
	v, err := d.snmp.Get(ctx, t, mib.SysObjectID, mib.SysDescr)
	if err != nil {
		return "", "", deviceFault(sw, err)
	}
	return v[0].ObjectID(), mib.Text(v[1].Peek()), nil
}

// tolerateTableError turns what spoils one table only into a note.
func tolerateTableError(o *discovery.Observation, err error) error {
	var e *snmp.Error
	if table, cut := cutTable(err); cut {
		o.Notes = append(o.Notes, err.Error())
		cuts := slices.DeleteFunc(slices.Clone(o.Cut), func(c discovery.Cut) bool {
			return c.Table == table
		})
		o.Cut = append(cuts, discovery.Cut{
			Table: table,
			Why:   err.Error(),
		})
		return nil
	}
	if errors.As(err, &e) && e.Status != 0 {
		o.Notes = append(o.Notes, err.Error())
		return nil
	}
	return err
}

// sources are the MIBs with neighbours that a switch serves. Rows of CDP are asked for also where it does not say that it
// serves them: many switches hear CDP and have no name of their own in it.
type sources struct{ lldp, lldpV2, cdp, cdpRows, fdp, edp bool }

// readIdentity reads the scalars: who the switch is, what it serves, and when its
// tables changed.
func (d *Driver) readIdentity(
	ctx context.Context,
	t snmp.Target,
	o *discovery.Observation,
) (sources, error) {
	v, err := d.snmp.Get(ctx, t, mib.SysObjectID, mib.SysDescr, mib.SysName, mib.BaseBridgeAddress,
		mib.LLDPLocChassisSubtype, mib.LLDPLocChassisID, mib.LLDPLocSysName,
		mib.LLDPV2LocChassisSubtype, mib.LLDPV2LocChassisID, mib.LLDPV2LocSysName, mib.CDPGlobalDeviceID,
		mib.SysUpTime, mib.IfTableLastChange, mib.LLDPRemTablesChanged, mib.LLDPV2RemTablesChanged)
	if err != nil {
		return sources{}, err
	}
	o.SysOID, o.SysDesc, o.SysName = v[0].ObjectID(), mib.Text(v[1].Peek()), mib.Text(v[2].Peek())
	o.Bridge = mib.MACOf(v[3].Peek())
	which := sources{
		lldp:    v[5].Exists(),
		lldpV2:  v[8].Exists(),
		cdp:     v[10].Exists(),
		cdpRows: true,
		fdp:     isUnderEnterprise(o.SysOID, foundry),
		edp:     isUnderEnterprise(o.SysOID, extreme),
	}
	chassis, sysName := 4, 6
	if !which.lldp && which.lldpV2 {
		chassis, sysName = 7, 9
	}
	o.Chassis = discovery.Identifier{
		Subtype: int32(v[chassis].Int()),
		ID:      v[chassis+1].Bytes(),
	}
	o.SysName = cmp.Or(o.SysName, mib.Text(v[sysName].Peek()))
	o.Device = mib.Text(v[10].Peek())
	o.Marks = marksFromValues(v[11:15])
	return which, nil
}

// The enterprises whose switches have protocols of their own.
const (
	foundry = "1.3.6.1.4.1.1991"
	extreme = "1.3.6.1.4.1.1916"
)

func isUnderEnterprise(objectID, enterprise string) bool {
	return strings.HasPrefix(strings.TrimPrefix(objectID, ".")+".", enterprise+".")
}

// marksFromValues are the values of sysUpTime and of the three times of change.
func marksFromValues(v []snmp.Value) discovery.Marks {
	return discovery.Marks{
		UpTime:     v[0].Uint32(),
		At:         time.Now(),
		Interfaces: v[1].Uint32(),
		Neighbors:  cmp.Or(v[2].Uint32(), v[3].Uint32()),
	}
}

// readPorts reads the ports of the bridge and the interfaces. Types of interfaces are read only
// where the bridge does not list all ports.
func (d *Driver) readPorts(
	ctx context.Context,
	sw *switchdriver.Switch,
	t snmp.Target,
	objectID string,
	tables *discovery.Tables,
) error {
	err := d.readInterfaces(ctx, t, tables)
	if err != nil || len(tables.BasePorts) > 0 && !isCisco(objectID) {
		return err
	}
	if err := d.walkColumns(ctx, t, 0, ifType(tables.Interfaces)); err != nil {
		return err
	}
	if err := d.entityNames(ctx, t, tables); err != nil || !isCisco(objectID) {
		return err
	}
	vlans, err := d.vtpVLANs(ctx, t)
	if err != nil {
		return err
	}
	soon, cancel := context.WithTimeout(ctx, portTime)
	defer cancel()
	_ = d.ciscoPorts(
		soon,
		sw,
		t,
		tables.BasePorts,
		vlans,
		tables.Interfaces,
	) // without them numbers are ifIndexes
	return ctx.Err()
}

// ifType is the column of the types of interfaces.
func ifType(rows map[uint32]discovery.Interface) column {
	return fieldColumn(mib.IfType, rows, func(f *discovery.Interface, v snmp.Value) {
		f.Type = int32(v.Int())
	})
}

// entityNames gives interfaces without a name those of ENTITY-MIB.
func (d *Driver) entityNames(ctx context.Context, t snmp.Target, tables *discovery.Tables) error {
	nameless := func(f discovery.Interface) bool { return f.Name == "" && f.Descr == "" }
	if !slices.ContainsFunc(slices.Collect(maps.Values(tables.Interfaces)), nameless) {
		return nil
	}
	names := map[uint32]string{}
	entities := map[uint32]uint32{} // by entPhysicalIndex, by ifIndex
	err := d.walkColumns(ctx, t, 0, fieldColumn(mib.EntPhysicalName, names, func(name *string, v snmp.Value) {
		*name = mib.Text(v.Peek())
	}),
		column{mib.EntAliasMapping, func(ix []uint32, v snmp.Value) {
			row, ok := mib.Under(mib.IfIndex, "."+strings.TrimPrefix(v.ObjectID(), "."), nil)
			if ok && len(row) == 1 && len(ix) == 2 {
				entities[row[0]] = ix[0]
			}
		}})
	for ifIndex, f := range tables.Interfaces {
		if nameless(f) {
			f.Name = names[entities[ifIndex]]
			tables.Interfaces[ifIndex] = f
		}
	}
	return err
}

func (d *Driver) readInterfaces(
	ctx context.Context,
	t snmp.Target,
	tables *discovery.Tables,
) error {
	of := func(oid string, set func(*discovery.Interface, snmp.Value)) column {
		return fieldColumn(oid, tables.Interfaces, set)
	}
	return d.walkColumns(ctx, t, 0, unsignedColumn(mib.BasePortIfIndex, tables.BasePorts),
		of(mib.IfDescr, func(f *discovery.Interface, v snmp.Value) {
			f.Descr = mib.Text(v.Peek())
		}),
		of(mib.IfPhysAddress, func(f *discovery.Interface, v snmp.Value) {
			f.MAC = mib.MACOf(v.Peek())
		}),
		of(mib.IfAdminStatus, func(f *discovery.Interface, v snmp.Value) {
			f.Admin = int32(v.Int())
		}),
		of(mib.IfOperStatus, func(f *discovery.Interface, v snmp.Value) {
			f.Oper = int32(v.Int())
		}),
		of(mib.IfName, func(f *discovery.Interface, v snmp.Value) {
			f.Name = mib.Text(v.Peek())
		}),
		of(mib.IfHighSpeed, func(f *discovery.Interface, v snmp.Value) {
			f.Speed = cmp.Or(speedFromMegabits(v), f.Speed)
		}),
		of(mib.IfSpeed, func(f *discovery.Interface, v snmp.Value) {
			f.Speed = cmp.Or(f.Speed, slowSpeed(v))
		}))
}

// slowSpeed is ifSpeed, which cannot tell 2³²-1 bits a second and more; it counts where ifHighSpeed says nothing.
func slowSpeed(v snmp.Value) uint64 {
	if n := v.Uint32(); n != math.MaxUint32 {
		return uint64(n)
	}
	return 0
}

// speedFromMegabits is ifHighSpeed in bits a second.
func speedFromMegabits(v snmp.Value) uint64 {
	return uint64(v.Uint32()) * 1_000_000
}
