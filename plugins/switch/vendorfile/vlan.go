package vendorfile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// portsExist refuses ports beyond the number that is described.
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

// writeVLAN types the lines, takes back what was done when one fails, and reads the
// VLAN back where the switch shows it by SNMP.
func (d *Driver) writeVLAN(ctx context.Context, sw *switchdriver.Switch, m *Model, f *Function, o *writes.Operation) error {
	v := o.VLAN
	before, readable, err := d.vlan(ctx, sw, v.VlanId)
	switch {
	case err != nil:
		return err
	case readable && o.Create && before != nil:
		return fault.At(fault.Exists, "vlan-id", "VLAN %d exists on switch %s", v.VlanId, switchdriver.Label(sw))
	case readable && !o.Create && before == nil:
		return fault.At(fault.NotFound, "vlan-id", "switch %s has no VLAN %d", switchdriver.Label(sw), v.VlanId)
	}
	values := vlanValues(v)
	job, err := prepare(f, values)
	if err != nil {
		return err
	}
	undo := job.rollback
	if del := m.Function(DeleteVLAN, ""); len(undo) == 0 && o.Create && del != nil {
		if j, err := prepare(del, values); err == nil {
			undo = j.lines
		}
	}
	if err := writes.Begin(ctx, writes.Plan{Driver: driver.VendorFile, Before: before}); err != nil {
		return err
	}
	err = d.talk(ctx, sw, m, f, job.lines)
	if err == nil && readable {
		err = confirm(ctx, sw, func() (string, error) {
			got, _, err := d.vlan(ctx, sw, v.VlanId)
			if err != nil || got != nil && (!o.SetPorts || samePorts(got, v)) {
				return "", err
			}
			return fmt.Sprintf("VLAN %d as %v", v.VlanId, got), nil
		})
	}
	if err == nil {
		return nil
	}
	if left := d.takeBack(ctx, sw, m, f, undo, v, before, readable, o.Create); left != nil {
		writes.Keep(ctx)
		err = fault.Device(fault.KindOf(err), "%v; what was done could not be undone: %v", err, left)
	}
	return err
}

// confirm reads back until the switch shows what the lines were to do. One that nothing can read it of is believed.
func confirm(ctx context.Context, sw *switchdriver.Switch, look func() (differs string, err error)) error {
	differs, err := writes.ReadBack(ctx, look)
	switch {
	case errors.Is(err, &fault.Error{Kind: fault.Unsupported}):
		return nil
	case err == nil && differs != "":
		return fault.Device(fault.Downstream, "switch %s accepted the commands but shows %s", switchdriver.Label(sw), differs)
	}
	return err
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

// deleteVLAN removes a VLAN as described.
func (d *Driver) deleteVLAN(ctx context.Context, sw *switchdriver.Switch, m *Model, f *Function, vlanID uint32) error {
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
	if err := writes.Begin(ctx, writes.Plan{Driver: driver.VendorFile, Before: before}); err != nil {
		return err
	}
	if err := d.talk(ctx, sw, m, f, job.lines); err != nil || !readable {
		return err
	}
	return confirm(ctx, sw, func() (string, error) {
		now, _, err := d.vlan(ctx, sw, vlanID)
		if err != nil || now == nil {
			return "", err
		}
		return fmt.Sprintf("VLAN %d still", vlanID), nil
	})
}
