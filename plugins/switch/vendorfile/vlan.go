package vendorfile

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// WriteVLAN makes or changes a VLAN as described; what is not described the driver
// beyond does.
func (d *Driver) WriteVLAN(ctx context.Context, sw *switchdriver.Switch, v *switchdriver.VLAN, create, setPorts bool) (*switchdriver.VLAN, error) {
	name := AddVLANAndSetPort
	switch {
	case create && !setPorts:
		name = AddVLAN
	case !create:
		name = SetVLANPort
	}
	m, f := d.function(sw, name, "")
	if m != nil && m.Ports > 0 {
		if err := portsExist(sw, v, m.Ports); err != nil {
			return nil, err
		}
	}
	switch {
	case f == nil:
		next, known, err := beyond[switchdriver.VLANWriter](ctx, d, sw, "WriteVlan", name)
		if err != nil {
			return nil, err
		}
		if m != nil && m.ListDigits > 0 && next == switchdriver.VLANWriter(d.standard) {
			return d.standard.WriteVLANBy(ctx, known, v, create, setPorts, mibdriver.Way{ListOctets: m.ListDigits / 2})
		}
		return next.WriteVLAN(ctx, known, v, create, setPorts)
	case f.Channel == SNMP:
		return d.standard.WriteVLANBy(ctx, sw, v, create, setPorts, mibdriver.Way{Sequence: sequence(f), ListOctets: m.ListDigits / 2})
	}
	return d.writeByLines(ctx, sw, m, f, v, create, setPorts)
}

func portsExist(sw *switchdriver.Switch, v *switchdriver.VLAN, ports int) error {
	var l fault.List
	for _, p := range v.EgressPorts {
		if int(p) > ports {
			path := mibdriver.PathTagged
			if slices.Contains(v.UntaggedPorts, p) {
				path = mibdriver.PathUntagged
			}
			l = append(l, fault.At(fault.Invalid, path, "model %q of switch %s has %d ports, no port %d", sw.Model, switchdriver.Label(sw), ports, p))
		}
	}
	return l.Err()
}

// sequence is the described SETs.
func sequence(f *Function) mibdriver.Sequence {
	items := map[string]mibdriver.Item{TagCreate: mibdriver.CreateAndGo, TagName: mibdriver.SetName,
		TagEgress: mibdriver.SetEgress, TagUntagged: mibdriver.SetUntagged}
	var out mibdriver.Sequence
	for _, c := range f.Commands {
		var set []mibdriver.Item
		for _, tag := range c.Tags {
			set = append(set, items[tag])
		}
		out = append(out, set)
	}
	return out
}

// values are what the tags of a VLAN's lines stand for.
func vlanValues(v *switchdriver.VLAN) map[string]Value {
	var tagged []uint32
	for _, p := range v.EgressPorts {
		if !slices.Contains(v.UntaggedPorts, p) {
			tagged = append(tagged, p)
		}
	}
	return map[string]Value{"vlan_id": number("vlan-id", v.VlanId), TagName: {Text: v.Name, Field: "vlan-name"},
		TagEgress: list(mibdriver.PathTagged, v.EgressPorts), "tagged_ports": list(mibdriver.PathTagged, tagged),
		TagUntagged: list(mibdriver.PathUntagged, v.UntaggedPorts)}
}

func number(field string, n uint32) Value {
	if n == 0 {
		return Value{Field: field}
	}
	return Value{Text: strconv.FormatUint(uint64(n), 10), Field: field}
}

func list(field string, ports []uint32) Value {
	text := make([]string, len(ports))
	for i, p := range ports {
		text[i] = strconv.FormatUint(uint64(p), 10)
	}
	return Value{Text: strings.Join(text, ","), Field: field}
}

// writeByLines types the lines, takes back what was done when one fails, and reads the
// VLAN back where the switch shows it by SNMP.
func (d *Driver) writeByLines(ctx context.Context, sw *switchdriver.Switch, m *Model, f *Function, v *switchdriver.VLAN, create, setPorts bool) (*switchdriver.VLAN, error) {
	before, readable, err := d.vlan(ctx, sw, v.VlanId)
	switch {
	case err != nil:
		return nil, err
	case readable && create && before != nil:
		return nil, fault.At(fault.Exists, "vlan-id", "VLAN %d exists on switch %s", v.VlanId, switchdriver.Label(sw))
	case readable && !create && before == nil:
		return nil, fault.At(fault.NotFound, "vlan-id", "switch %s has no VLAN %d", switchdriver.Label(sw), v.VlanId)
	}
	values := vlanValues(v)
	job, err := prepare(f, values)
	if err != nil {
		return nil, err
	}
	undo := job.rollback
	if del := m.Function(DeleteVLAN, ""); len(undo) == 0 && create && del != nil {
		if j, err := prepare(del, values); err == nil {
			undo = j.lines
		}
	}
	if err := writes.Begin(ctx, writes.Plan{Driver: Name, Before: before}); err != nil {
		return nil, err
	}
	out := v
	err = d.talk(ctx, sw, m, f, job.lines)
	if err == nil && readable {
		out, err = d.confirm(ctx, sw, v, setPorts)
	}
	if err == nil {
		return out, nil
	}
	if left := d.takeBack(ctx, sw, m, f, undo, v, before, readable, create); left != nil {
		writes.Keep(ctx)
		err = fault.Device(fault.KindOf(err), "%v; what was done could not be taken back: %v", err, left)
	}
	return nil, err
}

// vlan reads one VLAN by SNMP; readable is false for a switch that shows none.
func (d *Driver) vlan(ctx context.Context, sw *switchdriver.Switch, id uint32) (v *switchdriver.VLAN, readable bool, err error) {
	all, err := d.standard.ReadVLANs(ctx, sw)
	if errors.Is(err, &fault.Error{Kind: fault.Unsupported}) {
		return nil, false, nil
	}
	for _, v := range all {
		if v.VlanId == id {
			return v, true, err
		}
	}
	return nil, true, err
}

// confirm reads a VLAN back until it is as asked for.
func (d *Driver) confirm(ctx context.Context, sw *switchdriver.Switch, want *switchdriver.VLAN, ports bool) (*switchdriver.VLAN, error) {
	var got *switchdriver.VLAN
	for _, pause := range pauses() {
		if err := wait(ctx, pause); err != nil {
			break
		}
		var err error
		if got, _, err = d.vlan(ctx, sw, want.VlanId); err != nil {
			return nil, err
		}
		if got != nil && (!ports || samePorts(got, want)) {
			return got, nil
		}
	}
	return nil, fault.Device(fault.Downstream, "switch %s took the commands for VLAN %d but shows %v", switchdriver.Label(sw), want.VlanId, got)
}

func samePorts(a, b *switchdriver.VLAN) bool {
	return slices.Equal(slices.Sorted(slices.Values(a.EgressPorts)), slices.Sorted(slices.Values(b.EgressPorts))) &&
		slices.Equal(slices.Sorted(slices.Values(a.UntaggedPorts)), slices.Sorted(slices.Values(b.UntaggedPorts)))
}

// takeBack undoes what lines have done: by the described lines, else by SNMP. It returns
// why that is not possible.
func (d *Driver) takeBack(ctx context.Context, sw *switchdriver.Switch, m *Model, f *Function, undo []string, v, before *switchdriver.VLAN, readable, create bool) error {
	ctx, cancel := writes.TakingBack(ctx, undoTime)
	defer cancel()
	now, _, err := d.vlan(ctx, sw, v.VlanId)
	if readable && err != nil {
		return err
	}
	if readable && (create && now == nil || !create && now != nil && samePorts(now, before)) {
		return nil // nothing was done
	}
	if len(undo) > 0 {
		if err := d.talk(ctx, sw, m, f, undo); err == nil || !readable {
			return err
		}
	}
	if !readable {
		return errors.New("no commands for that are described")
	}
	if create {
		if now, _, err = d.vlan(ctx, sw, v.VlanId); err != nil || now == nil {
			return err
		}
		return d.standard.DeleteVLAN(ctx, sw, v.VlanId)
	}
	_, err = d.standard.WriteVLAN(ctx, sw, before, false, true)
	return err
}

// DeleteVLAN removes a VLAN as described.
func (d *Driver) DeleteVLAN(ctx context.Context, sw *switchdriver.Switch, vlanID uint32) error {
	m, f := d.function(sw, DeleteVLAN, "")
	if f == nil {
		next, known, err := beyond[switchdriver.VLANWriter](ctx, d, sw, "DeleteVlan", DeleteVLAN)
		if err != nil {
			return err
		}
		return next.DeleteVLAN(ctx, known, vlanID)
	}
	v := &switchdriver.VLAN{VlanId: vlanID}
	before, readable, err := d.vlan(ctx, sw, vlanID)
	switch {
	case err != nil:
		return err
	case readable && before == nil:
		return fault.At(fault.NotFound, "vlan-id", "switch %s has no VLAN %d", switchdriver.Label(sw), vlanID)
	case vlanID == 1:
		return fault.At(fault.Invalid, "vlan-id", "VLAN 1 is the default VLAN and cannot be removed")
	}
	job, err := prepare(f, vlanValues(v))
	if err != nil {
		return err
	}
	if err := writes.Begin(ctx, writes.Plan{Driver: Name, Before: before}); err != nil {
		return err
	}
	if err := d.talk(ctx, sw, m, f, job.lines); err != nil || !readable {
		return err
	}
	for _, pause := range pauses() {
		if err := wait(ctx, pause); err != nil {
			break
		}
		if now, _, err := d.vlan(ctx, sw, vlanID); err != nil || now == nil {
			return err
		}
	}
	return fault.Device(fault.Downstream, "switch %s took the commands but still shows VLAN %d", switchdriver.Label(sw), vlanID)
}
