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
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// performTyped types the described lines of an operation, reads the result back where a driver of the switch can, and takes
// back what was done when either fails.
func (d *Driver) performTyped(
	ctx context.Context,
	sw *switchdriver.Switch,
	m *Model,
	f *Function,
	o *writes.Operation,
) error {
	var before *switchdriver.VLAN
	readable, err := false, error(nil)
	if id := o.VLAN(); id != 0 {
		if before, readable, err = d.readVLAN(ctx, sw, id); err != nil {
			return err
		}
		if err := checkVLANChange(sw, o, before, readable); err != nil {
			return err
		}
	}
	j, err := prepareLines(f, tagValues(o, f))
	if err != nil {
		return err
	}
	if err := writes.Begin(
		ctx,
		writes.Plan{Driver: driver.VendorFile, Before: before},
	); err != nil {
		return err
	}
	if err = d.typeLines(ctx, sw, m, f, j.lines); err == nil {
		err = d.confirmOperation(ctx, sw, o)
	}
	if err == nil {
		return nil
	}
	undo, cancel := writes.TakingBack(ctx, undoTime)
	defer cancel()
	if left := d.takeBack(undo, sw, m, f, o, j.rollback, before, readable); left != nil {
		writes.Keep(ctx)
		return fault.Device(
			fault.KindOf(err),
			"%v; what was done could not be undone: %v",
			err,
			left,
		)
	}
	return err
}

// readVLAN reads one VLAN by SNMP; readable is false for a switch that shows none.
func (d *Driver) readVLAN(
	ctx context.Context,
	sw *switchdriver.Switch,
	id uint32,
) (v *switchdriver.VLAN, readable bool, err error) {
	v, err = switchdriver.FindVLAN(ctx, d.standard, sw, id)
	if errors.Is(err, &fault.Error{Kind: fault.Unsupported}) {
		return nil, false, nil
	}
	return v, true, err
}

// checkVLANChange refuses a change of a VLAN that is or is not there, as far as that can be read.
func checkVLANChange(
	sw *switchdriver.Switch,
	o *writes.Operation,
	before *switchdriver.VLAN,
	readable bool,
) error {
	id := o.VLAN()
	w, write := o.Request.(*pluginv1.WriteVlanRequest)
	switch {
	case readable && w.GetCreate() && before != nil:
		return fault.At(
			fault.Exists,
			"vlan-id",
			"VLAN %d exists on switch %s",
			id,
			switchdriver.Label(sw),
		)
	case readable && !w.GetCreate() && before == nil:
		return fault.At(
			fault.NotFound,
			"vlan-id",
			"switch %s has no VLAN %d",
			switchdriver.Label(sw),
			id,
		)
	case !write && id == 1:
		return fault.At(
			fault.Invalid,
			"vlan-id",
			"VLAN 1 is the default VLAN and cannot be removed",
		)
	}
	return nil
}

// confirmOperation reads back until the switch shows what the lines were to do. What nothing can read is believed: so is a
// spanning tree of a whole switch, of which the standard MIB knows only the ports.
func (d *Driver) confirmOperation(
	ctx context.Context,
	sw *switchdriver.Switch,
	o *writes.Operation,
) error {
	r, ok := o.Request.(*pluginv1.WriteStpRequest)
	if ok && r.Port == 0 {
		return nil
	}
	differs, err := writes.ReadBack(ctx, func() (string, error) {
		return switchdriver.Shown(ctx, sw, o.Request, func(operation string) (switchdriver.Driver, error) {
			if operation != "ReadAcl" {
				return d.standard, nil
			}
			next, _, err := d.Next(ctx, sw, operation)
			return next.Driver, err
		})
	})
	switch {
	case errors.Is(err, &fault.Error{Kind: fault.Unsupported}):
		return nil
	case err == nil && differs != "":
		return fault.Device(
			fault.Downstream,
			"switch %s accepted the commands but shows %s",
			switchdriver.Label(sw),
			differs,
		)
	}
	return err
}

// takeBack undoes what lines have done: by the lines that are described for that, a VLAN also by those that remove
// one, or by SNMP. It returns why that is not possible. A VLAN that was to be removed is left.
func (d *Driver) takeBack(ctx context.Context, sw *switchdriver.Switch, m *Model, f *Function, o *writes.Operation, undo []string,
	before *switchdriver.VLAN, readable bool) error {
	w, write := o.Request.(*pluginv1.WriteVlanRequest)
	switch {
	case !write && (o.VLAN() != 0 || len(undo) == 0):
		return nil
	case !write:
		return d.typeLines(ctx, sw, m, f, undo)
	}
	del := m.Function(DeleteVLAN, "")
	if len(undo) == 0 && w.Create && del != nil {
		if j, err := prepareLines(del, tagValues(o, f)); err == nil {
			undo = j.lines
		}
	}
	now, _, err := d.readVLAN(ctx, sw, o.VLAN())
	if readable && err != nil {
		return err
	}
	if readable &&
		(w.Create && now == nil || !w.Create && now != nil && switchdriver.PortsDiffer(before, now) == "") {
		return nil // nothing was done
	}
	if len(undo) > 0 {
		err := d.typeLines(ctx, sw, m, f, undo)
		if err == nil || !readable {
			return err
		}
	}
	if !readable {
		return errors.New("no commands for that are described")
	}
	if !w.Create {
		_, err = d.standard.WriteVLAN(ctx, sw, before, false, true)
		return err
	}
	if now, _, err = d.readVLAN(ctx, sw, o.VLAN()); err != nil || now == nil {
		return err
	}
	return d.standard.DeleteVLAN(ctx, sw, o.VLAN())
}

// tagValues are what the tags of an operation's lines stand for.
func tagValues(o *writes.Operation, f *Function) map[string]Value {
	switch r := o.Request.(type) {
	case *pluginv1.DeleteVlanRequest:
		return map[string]Value{"vlan_id": numberValue("vlan-id", r.VlanId)}
	case *pluginv1.WriteStpRequest:
		return map[string]Value{"port": numberValue("port", r.Port)}
	case *pluginv1.WriteVlanRequest:
		v := r.GetVlan()
		untagged := func(p uint32) bool {
			return slices.Contains(v.GetUntaggedPorts(), p)
		}
		tagged := slices.DeleteFunc(slices.Clone(v.GetEgressPorts()), untagged)
		return map[string]Value{
			"vlan_id":             numberValue("vlan-id", v.GetVlanId()),
			mibdriver.SetName:     {v.GetName(), "vlan-name"},
			mibdriver.SetEgress:   listValue(mibdriver.PathTagged, v.GetEgressPorts()),
			"tagged_ports":        listValue(mibdriver.PathTagged, tagged),
			mibdriver.SetUntagged: listValue(mibdriver.PathUntagged, v.GetUntaggedPorts()),
		}
	case *pluginv1.ApplyAclRequest:
		return aclValues(r.Profile, r.Rule, f)
	}
	return nil
}

func aclValues(p *switchdriver.ACLProfile, r *switchdriver.ACLRule, f *Function) map[string]Value {
	action := map[string]string{
		switchdriver.ActionPermit: f.Permit,
		switchdriver.ActionDeny:   f.Deny,
	}[r.GetAction()]
	out := map[string]Value{
		"profile_id":   numberValue("profile-id", p.GetProfileId()),
		"profile_name": {p.GetProfileName(), "profile-name"},
		"src_ip_mask":  {p.GetSrcIpMask(), "src-ip-mask"},
		"dst_ip_mask":  {p.GetDstIpMask(), "dst-ip-mask"},
		"rule_id":      numberValue("rule-id", r.GetRuleId()),
		"rule_name":    {r.GetRuleName(), "rule-name"},
		"vlan_id":      numberValue("vlan-id", r.GetVlanId()),
		"src_ip":       {r.GetSrcIp(), "src-ip"},
		"dst_ip":       {r.GetDstIp(), "dst-ip"},
		"port_list":    listValue("port-list", r.GetPorts()),
		"action":       {action, "acl-action"},
	}
	if p != nil && p.VlanMask != nil {
		out["vlan_mask"] = Value{
			Text:  fmt.Sprintf("0x%04x", *p.VlanMask),
			Field: "vlan-mask",
		}
	}
	return out
}

func numberValue(field string, n uint32) Value {
	if n == 0 {
		return Value{Field: field}
	}
	return Value{strconv.FormatUint(uint64(n), 10), field}
}

func listValue(field string, ports []uint32) Value {
	text := make([]string, len(ports))
	for i, p := range ports {
		text[i] = strconv.FormatUint(uint64(p), 10)
	}
	return Value{strings.Join(text, ","), field}
}
