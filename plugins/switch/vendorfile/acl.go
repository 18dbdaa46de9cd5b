package vendorfile

import (
	"context"
	"fmt"

	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// layers are the names of the layers in the file.
func layers() map[string]string { return map[string]string{"ETHERNET": "mac", "IP": "ip"} }

// ApplyACL types the described lines. Where another driver of the switch reads access
// lists, what it shows is compared; else what the switch says to the lines counts.
func (d *Driver) ApplyACL(ctx context.Context, sw *switchdriver.Switch, action switchdriver.ACLAction, p *switchdriver.ACLProfile, r *switchdriver.ACLRule) error {
	name := map[switchdriver.ACLAction]string{
		pluginv1.ApplyAclRequest_ACTION_CREATE_PROFILE: CreateACLProfile, pluginv1.ApplyAclRequest_ACTION_DELETE_PROFILE: DeleteACLProfile,
		pluginv1.ApplyAclRequest_ACTION_SET_RULE: SetACLRule, pluginv1.ApplyAclRequest_ACTION_DELETE_RULE: DeleteACLRule,
		pluginv1.ApplyAclRequest_ACTION_CLEAR: ClearACLProfile}[action]
	m, f := d.function(sw, name, layers()[p.GetLayer()])
	if f == nil {
		next, known, err := beyond[switchdriver.ACLApplier](ctx, d, sw, "ApplyAcl", name)
		if err != nil {
			return err
		}
		return next.ApplyACL(ctx, known, action, p, r)
	}
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
	asked := &pluginv1.ApplyAclRequest{Action: action, Profile: p, Rule: r}
	return d.simple(ctx, sw, m, f, values, func(ctx context.Context) error { return d.confirmACL(ctx, sw, asked) })
}

// confirmACL reads the access lists back until they are as asked for.
func (d *Driver) confirmACL(ctx context.Context, sw *switchdriver.Switch, asked *pluginv1.ApplyAclRequest) error {
	next, known, err := d.Beyond(ctx, sw, "ReadAcl")
	reader, ok := next.(switchdriver.ACLReader)
	if err != nil || !ok {
		return nil // nothing reads them
	}
	differs := ""
	for _, pause := range pauses() {
		if wait(ctx, pause) != nil {
			break
		}
		table, err := reader.ReadACL(ctx, known)
		if fault.KindOf(err) == fault.Unsupported && err != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if differs = switchdriver.ACLDiffers(asked.Action, asked.Profile, asked.Rule, table); differs == "" {
			return nil
		}
	}
	return fault.Device(fault.Downstream, "switch %s took the commands but shows %s", switchdriver.Label(sw), differs)
}

// WriteSTP types the described lines, and reads a port back where the switch shows it.
func (d *Driver) WriteSTP(ctx context.Context, sw *switchdriver.Switch, port uint32, enable bool) error {
	name := map[bool]string{true: EnableSTP, false: DisableSTP}[enable]
	if port != 0 {
		name += "_port"
	}
	m, f := d.function(sw, name, "")
	if f == nil {
		next, known, err := beyond[switchdriver.STPWriter](ctx, d, sw, "WriteStp", name)
		if err != nil {
			return err
		}
		return next.WriteSTP(ctx, known, port, enable)
	}
	values := map[string]Value{"port": number("port", port)}
	if err := d.simple(ctx, sw, m, f, values, nil); err != nil || port == 0 {
		return err
	}
	for _, pause := range pauses() {
		if wait(ctx, pause) != nil {
			break
		}
		ports, _, err := d.standard.ReadSTP(ctx, sw, port)
		if fault.KindOf(err) == fault.Unsupported && err != nil {
			return nil // the switch has no such table: its word counts
		}
		if err != nil || len(ports) == 1 && ports[0].Enabled == enable {
			return err
		}
	}
	return fault.Device(fault.Downstream, "switch %s took the commands but port %d shows another state of spanning tree", switchdriver.Label(sw), port)
}

// simple types the lines of a function and has the result confirmed, unless confirm is
// nil; when either fails the lines for taking back are typed.
func (d *Driver) simple(ctx context.Context, sw *switchdriver.Switch, m *Model, f *Function, values map[string]Value, confirm func(context.Context) error) error {
	j, err := prepare(f, values)
	if err != nil {
		return err
	}
	if err := writes.Begin(ctx, writes.Plan{Driver: Name}); err != nil {
		return err
	}
	if err = d.talk(ctx, sw, m, f, j.lines); err == nil && confirm != nil {
		err = confirm(ctx)
	}
	if err == nil || len(j.rollback) == 0 {
		return err
	}
	undo, cancel := writes.TakingBack(ctx, undoTime)
	defer cancel()
	if left := d.talk(undo, sw, m, f, j.rollback); left != nil {
		return fault.Device(fault.KindOf(err), "%v; what was done could not be taken back: %v", err, left)
	}
	return err
}
