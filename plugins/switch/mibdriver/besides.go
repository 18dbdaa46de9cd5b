package mibdriver

import (
	"context"
	"maps"
	"slices"
	"strings"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
)

// besides are the objects of VLANs that a switch shows otherwise than before, although no step assigns them: an agent may
// do more than it was asked to. Ports to ignore, bits of ports that are not in a VLAN, and VLANs that came, do not count.
func besides(before, now *vlanTable, steps []step, ignore mib.Ports) writes.Step {
	s := step{Step: writes.Step{What: "what the switch did besides"}}
	assigned := map[string]bool{}
	for _, x := range steps {
		for _, a := range x.Assigns {
			assigned[a.OID] = true
		}
	}
	for _, v := range slices.Sorted(maps.Keys(before.rows)) {
		was, is := before.rows[v], now.rows[v]
		row := mib.Sub(mib.QVlanStaticRowStatus, v)
		switch {
		case !was.static || assigned[row]:
			continue
		case is == nil || !is.static:
			s.addRowStatus(row, mib.RowActive, writes.Number(mib.RowActive), nil)
			s.addAssignment(
				mib.Sub(mib.QVlanStaticName, v),
				writes.Octets,
				writes.Hex(was.rawName),
				nil,
			)
			s.assignList(mib.Sub(mib.QVlanStaticEgress, v), before.known, was.egress, nil)
			s.assignList(mib.Sub(mib.QVlanStaticUntagged, v), before.known, was.untagged, nil)
			continue
		}
		egress, untagged := before.effective(v)
		egressNow, untaggedNow := now.effective(v)
		oid := mib.Sub(mib.QVlanStaticEgress, v)
		if !assigned[oid] && differ(egress, egressNow, ignore) {
			s.assignList(oid, before.known, was.egress, is.egress)
		}
		if oid := mib.Sub(mib.QVlanStaticUntagged, v); !assigned[oid] &&
			differ(untagged, untaggedNow, ignore) {
			s.assignList(oid, before.known, was.untagged, is.untagged)
		}
	}
	for _, port := range slices.Sorted(maps.Keys(before.pvid)) {
		was := before.pvid[port]
		is, there := now.pvid[port]
		oid := mib.Sub(mib.QPvid, port)
		if there && is != was && !assigned[oid] && !ignore[port] {
			s.addAssignment(oid, writes.Gauge, writes.Number(int64(was)), writes.Number(int64(is)))
		}
	}
	return s.Step
}

// effective are the ports of a VLAN, and those of them that are untagged.
func (t *vlanTable) effective(v mib.VID) (egress, untagged mib.Ports) {
	egress, untagged = t.configuredPorts(v)
	maps.DeleteFunc(untagged, func(port uint32, _ bool) bool { return !egress[port] })
	return egress, untagged
}

// differ reports whether two sets of ports differ in others than those to ignore.
func differ(a, b, ignore mib.Ports) bool {
	for port := range a.Union(b) {
		if a[port] != b[port] && !ignore[port] {
			return true
		}
	}
	return false
}

// didBesides finds what the switch did that no step asked for. What it did to ports of the aggregates that the steps touch,
// as agents do who show the VLANs of an aggregate at its members, is no difference.
func (j *job) didBesides(ctx context.Context, now *vlanTable, steps []step) (writes.Step, error) {
	s := besides(j.vlans, now, steps, nil)
	if len(s.Assigns) == 0 {
		return s, nil
	}
	ignore, err := j.d.bundled(ctx, j.r, touchedPorts(steps))
	if err != nil {
		return s, err
	}
	return besides(j.vlans, now, steps, ignore), nil
}

// bundled are the further ports of the aggregates that some ports are, or are in.
func (d *Driver) bundled(ctx context.Context, r snmp.Target, ports mib.Ports) (mib.Ports, error) {
	base, attached := map[uint32]uint32{}, map[uint32]uint32{}
	err := d.walkColumns(
		ctx,
		r,
		0,
		unsignedColumn(mib.BasePortIfIndex, base),
		unsignedColumn(mib.AggPortAttached, attached),
	)
	if err != nil {
		return nil, err
	}
	whole := map[uint32]bool{} // by ifIndex
	for port := range ports {
		ifIndex := base[port]
		if ifIndex == 0 {
			continue
		}
		whole[ifIndex] = true
		if aggregate := attached[ifIndex]; aggregate != 0 {
			whole[aggregate] = true
		}
	}
	out := mib.Ports{}
	for port, ifIndex := range base {
		if !ports[port] && (whole[ifIndex] || whole[attached[ifIndex]]) {
			out[port] = true
		}
	}
	return out, nil
}

// said is what a step changed, for people.
func said(s writes.Step) string {
	var parts []string
	for _, a := range s.Assigns {
		if a.Kind == writes.Octets && a.To == nil {
			continue // it went with its row
		}
		parts = append(parts, describeDifference(a, a.From, a.To))
	}
	return strings.Join(parts, ", ") + ", which was not asked for"
}
