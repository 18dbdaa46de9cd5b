package vendorfile

import (
	"context"
	"fmt"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// applyACL types the described lines. Where another driver of the switch reads access
// lists, what it shows is compared; else what the switch says to the lines counts.
func (d *Driver) applyACL(ctx context.Context, sw *switchdriver.Switch, m *Model, f *Function, asked *pluginv1.ApplyAclRequest) error {
	p, r := asked.Profile, asked.Rule
	values := map[string]Value{"profile_id": number("profile-id", p.GetProfileId()), "profile_name": {Text: p.GetProfileName(), Field: "profile-name"},
		"src_ip_mask": {Text: p.GetSrcIpMask(), Field: "src-ip-mask"}, "dst_ip_mask": {Text: p.GetDstIpMask(), Field: "dst-ip-mask"},
		"rule_id": number("rule-id", r.GetRuleId()), "rule_name": {Text: r.GetRuleName(), Field: "rule-name"}, "port_list": list("port-list", r.GetPorts()),
		"vlan_id": number("vlan-id", r.GetVlanId()), "src_ip": {Text: r.GetSrcIp(), Field: "src-ip"}, "dst_ip": {Text: r.GetDstIp(), Field: "dst-ip"}}
	if p != nil && p.VlanMask != nil {
		values["vlan_mask"] = Value{Text: fmt.Sprintf("0x%04x", *p.VlanMask), Field: "vlan-mask"}
	}
	switch r.GetAction() {
	case "PERMIT":
		values["action"] = Value{Text: f.Permit, Field: "acl-action"}
	case "DENY":
		values["action"] = Value{Text: f.Deny, Field: "acl-action"}
	}
	return d.simple(ctx, sw, m, f, values, func() (string, error) {
		next, known, err := d.Next(ctx, sw, "ReadAcl")
		if err != nil {
			return "", err
		}
		table, err := next.Driver.(switchdriver.ACLReader).ReadACL(ctx, known)
		return switchdriver.ACLDiffers(asked.Action, p, r, table), err
	})
}

// writeSTP types the described lines, and reads a port back where the switch shows it.
func (d *Driver) writeSTP(ctx context.Context, sw *switchdriver.Switch, m *Model, f *Function, o *writes.Operation) error {
	var look func() (string, error)
	if o.Port != 0 {
		look = func() (string, error) {
			ports, _, err := d.standard.ReadSTP(ctx, sw, o.Port)
			if err != nil || len(ports) == 1 && ports[0].Enabled == o.Enable {
				return "", err
			}
			return fmt.Sprintf("another state of spanning tree at port %d", o.Port), nil
		}
	}
	return d.simple(ctx, sw, m, f, map[string]Value{"port": number("port", o.Port)}, look)
}

// simple types the lines of a function and reads the result back, unless look is nil; when
// either fails the lines for taking back are typed.
func (d *Driver) simple(ctx context.Context, sw *switchdriver.Switch, m *Model, f *Function, values map[string]Value, look func() (differs string, err error)) error {
	j, err := prepare(f, values)
	if err != nil {
		return err
	}
	if err := writes.Begin(ctx, writes.Plan{Driver: driver.VendorFile}); err != nil {
		return err
	}
	if err = d.talk(ctx, sw, m, f, j.lines); err == nil && look != nil {
		err = confirm(ctx, sw, look)
	}
	if err == nil || len(j.rollback) == 0 {
		return err
	}
	undo, cancel := writes.TakingBack(ctx, undoTime)
	defer cancel()
	if left := d.talk(undo, sw, m, f, j.rollback); left != nil {
		return fault.Device(fault.KindOf(err), "%v; what was done could not be undone: %v", err, left)
	}
	return err
}
