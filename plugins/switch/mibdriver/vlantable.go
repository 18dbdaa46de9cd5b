package mibdriver

import (
	"context"
	"errors"
	"maps"
	"slices"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// vlanTable is all that a switch reports of its VLANs.
type vlanTable struct {
	known mib.Ports // bridge ports; nil if the switch does not report them
	rows  map[mib.VID]*vlanRow
	pvid  map[uint32]mib.VID // by port
	form  mib.ListForm
}

// vlanRow is a VLAN: a row of dot1qVlanStaticTable, of dot1qVlanCurrentTable, or of both.
type vlanRow struct {
	static          bool
	status          int64 // RowStatus, 0 when not reported
	name            string
	rawName         []byte
	egress          []byte // dot1qVlanStaticEgressPorts as the agent has it
	untagged        []byte
	current         bool
	mark            uint32 // TimeMark of the current row
	currentEgress   []byte
	currentUntagged []byte
}

func (t *vlanTable) rowOf(v mib.VID) *vlanRow {
	r := t.rows[v]
	if r == nil {
		r = &vlanRow{}
		t.rows[v] = r
	}
	return r
}

// clone copies what a planner changes: rows and PVIDs, not the octets.
func (t *vlanTable) clone() *vlanTable {
	c := &vlanTable{
		known: t.known,
		rows:  make(map[mib.VID]*vlanRow, len(t.rows)),
		pvid:  maps.Clone(t.pvid),
		form:  t.form,
	}
	for v, r := range t.rows {
		row := *r
		c.rows[v] = &row
	}
	return c
}

// decodePorts decodes a list of the switch.
func (t *vlanTable) decodePorts(list []byte) mib.Ports {
	return t.form.Ports(list, t.known)
}

// findListForm finds the form of the lists of the table.
func (t *vlanTable) findListForm(sw *switchdriver.Switch) error {
	var lists [][]byte
	var vlans []mib.VID
	for _, v := range slices.Sorted(maps.Keys(t.rows)) {
		r := t.rows[v]
		lists = append(lists, r.egress, r.untagged, r.currentEgress, r.currentUntagged)
		vlans = append(vlans, v, v, v, v)
	}
	agree := func(f mib.ListForm) (n int) {
		members := map[mib.VID]mib.Ports{}
		for v, r := range t.rows {
			members[v] = f.Ports(r.egress, t.known).Union(f.Ports(r.currentEgress, t.known))
		}
		for port, v := range t.pvid {
			if members[v][port] {
				n++
			}
		}
		return n
	}
	var err error
	t.form, err = mib.FormOf(lists, t.known, agree)
	if e := (*mib.ListError)(nil); errors.As(err, &e) {
		return fault.Device(
			fault.Downstream,
			"the ports of VLAN %d of switch %s cannot be read, so its VLANs are not shown: %v; it needs a driver of its own",
			vlans[e.Index],
			switchdriver.Label(sw),
			err,
		)
	}
	return err
}

// memberPorts returns the ports of a VLAN: those it is configured to have, and those
// it has at the moment.
func (t *vlanTable) memberPorts(v mib.VID) (egress, untagged mib.Ports) {
	r := t.rows[v]
	if r == nil {
		return mib.Ports{}, mib.Ports{}
	}
	egress = t.decodePorts(r.egress).Union(t.decodePorts(r.currentEgress))
	untagged = t.decodePorts(r.untagged).Union(t.decodePorts(r.currentUntagged))
	maps.DeleteFunc(untagged, func(p uint32, _ bool) bool { return !egress[p] })
	return egress, untagged
}

// configuredPorts returns the ports a VLAN is configured to have.
func (t *vlanTable) configuredPorts(v mib.VID) (egress, untagged mib.Ports) {
	r := t.rows[v]
	if r == nil || !r.static {
		return mib.Ports{}, mib.Ports{}
	}
	return t.decodePorts(r.egress), t.decodePorts(r.untagged)
}

// listVLANs returns the VLANs in effect, in ascending order.
func (t *vlanTable) listVLANs() []mib.VID {
	var out []mib.VID
	for _, v := range slices.Sorted(maps.Keys(t.rows)) {
		r := t.rows[v]
		if v >= 1 && v <= 4094 && (r.current || r.status == 0 || r.status == mib.RowActive) {
			out = append(out, v)
		}
	}
	return out
}

// readVLANs reads the tables. A switch without them is Unsupported.
func (d *Driver) readVLANs(
	ctx context.Context,
	sw *switchdriver.Switch,
	t snmp.Target,
) (*vlanTable, error) {
	table := &vlanTable{
		rows: map[mib.VID]*vlanRow{},
		pvid: map[uint32]mib.VID{},
	}
	ports := map[uint32]uint32{}
	static := func(oid string, set func(*vlanRow, snmp.Value)) column {
		return column{oid, func(ix []uint32, v snmp.Value) {
			if len(ix) == 1 {
				r := table.rowOf(ix[0])
				r.static = true
				set(r, v)
			}
		}}
	}
	current := func(oid string, set func(*vlanRow, snmp.Value)) column {
		return column{oid, func(ix []uint32, v snmp.Value) {
			mark, vid, ok := mib.TimedVID(ix)
			if !ok {
				return
			}
			r := table.rowOf(vid)
			if !r.current || mark >= r.mark { // else an older state
				r.current, r.mark = true, mark
				set(r, v)
			}
		}}
	}
	err := d.walkColumns(ctx, t, 0, static(mib.QVlanStaticName, func(r *vlanRow, v snmp.Value) {
		r.rawName, r.name = v.Bytes(), mib.Text(v.Peek())
	}),
		static(mib.QVlanStaticEgress, func(r *vlanRow, v snmp.Value) {
			r.egress = v.Bytes()
		}),
		static(mib.QVlanStaticUntagged, func(r *vlanRow, v snmp.Value) {
			r.untagged = v.Bytes()
		}),
		static(mib.QVlanStaticRowStatus, func(r *vlanRow, v snmp.Value) {
			r.status = v.Int()
		}),
		current(mib.QVlanCurrentEgress, func(r *vlanRow, v snmp.Value) {
			r.currentEgress = v.Bytes()
		}),
		current(mib.QVlanCurrentUntagged, func(r *vlanRow, v snmp.Value) {
			r.currentUntagged = v.Bytes()
		}),
		unsignedColumn(mib.BasePortIfIndex, ports), unsignedColumn(mib.QPvid, table.pvid))
	if err != nil {
		return nil, deviceFault(sw, err)
	}
	if len(table.rows) == 0 {
		return nil, fault.Device(
			fault.Unsupported,
			"switch %s has no VLAN tables (Q-BRIDGE-MIB)",
			switchdriver.Label(sw),
		)
	}
	for _, rows := range []map[uint32]uint32{table.pvid, ports} {
		maps.DeleteFunc(rows, func(port, _ uint32) bool { return port > 0xffff })
		if len(rows) > 0 { // dot1qPortVlanTable has the same index as dot1dBasePortTable, which counts
			table.known = mib.PortsOf(slices.Collect(maps.Keys(rows))...)
		}
	}
	return table, table.findListForm(sw)
}

// asText is the fault of a change of ports of a switch that returns them as text, numbers or hexadecimal digits.
func asText(sw *switchdriver.Switch) error {
	return fault.Device(
		fault.Unsupported,
		"switch %s returns the ports of VLANs as text, which the standard MIB cannot set; it needs a driver of its own",
		switchdriver.Label(sw),
	)
}

// ReadVLANs reads the VLANs of a switch, in ascending order.
func (d *Driver) ReadVLANs(
	ctx context.Context,
	sw *switchdriver.Switch,
) ([]*switchdriver.VLAN, error) {
	vlans, _, err := d.PortVLANs(ctx, sw)
	return vlans, err
}

// PortVLANs is ReadVLANs with the PVIDs of the ports.
func (d *Driver) PortVLANs(
	ctx context.Context,
	sw *switchdriver.Switch,
) ([]*switchdriver.VLAN, map[uint32]uint32, error) {
	t, err := readTarget(sw)
	if err != nil {
		return nil, nil, err
	}
	table, err := d.readVLANs(ctx, sw, t)
	if fault.KindOf(err) == fault.Unsupported {
		out, failed := d.ciscoVLANs(ctx, sw, t)
		if failed != nil || len(out) > 0 {
			pvid := map[uint32]uint32{}
			for _, v := range out {
				for _, port := range v.UntaggedPorts {
					pvid[port] = v.VlanId
				}
			}
			return out, pvid, deviceFault(sw, failed)
		}
		pvid := map[uint32]uint32{} // of a switch without tables of VLANs
		if failed := d.walkColumns(ctx, t, 0, unsignedColumn(mib.QPvid, pvid)); failed != nil ||
			len(pvid) > 0 {
			return nil, pvid, deviceFault(sw, failed)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	var out []*switchdriver.VLAN
	for _, v := range table.listVLANs() {
		out = append(out, table.toVLAN(v))
	}
	return out, table.pvid, nil
}

// toVLAN is a row in the form of the contract.
func (t *vlanTable) toVLAN(v mib.VID) *switchdriver.VLAN {
	egress, untagged := t.memberPorts(v)
	return &switchdriver.VLAN{
		VlanId:        v,
		Name:          t.rows[v].name,
		EgressPorts:   egress.Sorted(),
		UntaggedPorts: untagged.Sorted(),
		Dynamic:       !t.rows[v].static,
	}
}
