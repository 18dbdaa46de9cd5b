package conformance

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

func (k *kit) acl(action switchdriver.ACLAction, p *switchdriver.ACLProfile, r *switchdriver.ACLRule) error {
	return k.client.ApplyACL(k.ctx(), k.Switch, action, p, r)
}

// aclShown checks that the switch shows what was done, where the driver reads it.
func (k *kit) aclShown(what string, action switchdriver.ACLAction, p *switchdriver.ACLProfile, r *switchdriver.ACLRule) {
	k.t.Helper()
	k.shown(what, &pluginv1.ApplyAclRequest{Action: action, Profile: p, Rule: r})
}

func aclLife(k *kit) {
	ip := &switchdriver.ACLProfile{ProfileId: 3, ProfileName: "kit-ip", Layer: switchdriver.LayerIP, SrcIpMask: "255.255.255.0", DstIpMask: "255.255.255.255"}
	eth := &switchdriver.ACLProfile{ProfileId: 4, ProfileName: "kit_eth", Layer: switchdriver.LayerEthernet, VlanMask: proto.Uint32(0xfff)}
	rule := &switchdriver.ACLRule{RuleId: 7, Ports: k.Ports[:2], Layer: switchdriver.LayerIP, SrcIp: "192.0.2.0", DstIp: "198.51.100.1", Action: switchdriver.ActionDeny}
	k.refused("a rule of a profile that is not there", k.acl(switchdriver.ACLSetRule, ip, rule), fault.NotFound)
	k.refused("removing a profile that is not there", k.acl(switchdriver.ACLDeleteProfile, ip, nil), fault.NotFound)
	k.must("making a profile", k.acl(switchdriver.ACLCreateProfile, ip, nil))
	k.aclShown("making a profile", switchdriver.ACLCreateProfile, ip, nil)
	k.refused("making a profile again", k.acl(switchdriver.ACLCreateProfile, ip, nil), fault.Exists)
	k.must("making an Ethernet profile", k.acl(switchdriver.ACLCreateProfile, eth, nil))
	k.must("making a rule", k.acl(switchdriver.ACLSetRule, &switchdriver.ACLProfile{ProfileId: 3}, rule))
	k.aclShown("making a rule", switchdriver.ACLSetRule, ip, rule)
	k.must("making an Ethernet rule by the profile's name", k.acl(switchdriver.ACLSetRule, &switchdriver.ACLProfile{ProfileName: "kit_eth"},
		&switchdriver.ACLRule{RuleId: 1, Ports: k.Ports[:1], Layer: switchdriver.LayerEthernet, VlanId: proto.Uint32(10), Action: switchdriver.ActionPermit}))
	k.must("removing a rule", k.acl(switchdriver.ACLDeleteRule, &switchdriver.ACLProfile{ProfileId: 3}, rule))
	k.aclShown("removing a rule", switchdriver.ACLDeleteRule, ip, rule)
	k.refused("removing a rule again", k.acl(switchdriver.ACLDeleteRule, &switchdriver.ACLProfile{ProfileId: 3}, rule), fault.NotFound)
	k.must("removing a profile by its name", k.acl(switchdriver.ACLDeleteProfile, &switchdriver.ACLProfile{ProfileName: "kit-ip"}, nil))
	k.aclShown("removing a profile", switchdriver.ACLDeleteProfile, ip, nil)
	k.must("clearing", k.acl(switchdriver.ACLClear, nil, nil))
	k.aclShown("clearing", switchdriver.ACLClear, nil, nil)
	k.refused("removing what was cleared", k.acl(switchdriver.ACLDeleteProfile, eth, nil), fault.NotFound)
	k.must("clearing what is empty", k.acl(switchdriver.ACLClear, nil, nil))
}

// evil are values that would add a command if they reached a command line.
func evil() []string {
	return []string{"x\nreboot", "x\r\nreboot", "x\rreboot", "x;reboot", "x|reboot", "x reboot", "?", "x\treboot", "x\x00", "x\x03", "x\x1b[A", "\"x\" reboot",
		"'x'", "`reboot`", "$(reboot)", "${password}$", "x\\nreboot", "x{reboot}", "é", " ", "x&reboot", "x>f", "!x", "x#", "--help"}
}

func badACL(k *kit) {
	defer k.sendsNothing("refused access lists")()
	rule := func(f func(*switchdriver.ACLRule)) *switchdriver.ACLRule {
		r := &switchdriver.ACLRule{RuleId: 7, Ports: k.Ports[:1], Layer: switchdriver.LayerIP, SrcIp: "192.0.2.0", Action: switchdriver.ActionDeny}
		f(r)
		return r
	}
	profile := func(f func(*switchdriver.ACLProfile)) *switchdriver.ACLProfile {
		p := &switchdriver.ACLProfile{ProfileId: 3, ProfileName: "kit", Layer: switchdriver.LayerIP, SrcIpMask: "255.255.255.0"}
		f(p)
		return p
	}
	plain := profile(func(*switchdriver.ACLProfile) {})
	for _, e := range evil() {
		for field, f := range map[string]func(*switchdriver.ACLProfile){
			"profile-name": func(p *switchdriver.ACLProfile) { p.ProfileName = e }, "acl-layer": func(p *switchdriver.ACLProfile) { p.Layer = e },
			"src-ip-mask": func(p *switchdriver.ACLProfile) { p.SrcIpMask = e }, "dst-ip-mask": func(p *switchdriver.ACLProfile) { p.DstIpMask = e },
		} {
			k.refused(fmt.Sprintf("%s %q", field, e), k.acl(switchdriver.ACLCreateProfile, profile(f), nil), bad...)
		}
		k.refused(fmt.Sprintf("removing the profile %q", e), k.acl(switchdriver.ACLDeleteProfile, &switchdriver.ACLProfile{ProfileName: e}, nil), bad...)
		for field, f := range map[string]func(*switchdriver.ACLRule){
			"rule-name": func(r *switchdriver.ACLRule) { r.RuleName = e }, "acl-layer": func(r *switchdriver.ACLRule) { r.Layer = e },
			"src-ip": func(r *switchdriver.ACLRule) { r.SrcIp = e }, "dst-ip": func(r *switchdriver.ACLRule) { r.DstIp = e }, "acl-action": func(r *switchdriver.ACLRule) { r.Action = e },
		} {
			k.refused(fmt.Sprintf("%s %q", field, e), k.acl(switchdriver.ACLSetRule, plain, rule(f)), bad...)
		}
	}
	for name, err := range map[string]error{
		"no action":             k.acl(0, plain, nil),
		"an action of tomorrow": k.acl(99, plain, nil),
		"no profile":            k.acl(switchdriver.ACLCreateProfile, nil, nil),
		"no rule":               k.acl(switchdriver.ACLSetRule, plain, nil),
		"no ports":              k.acl(switchdriver.ACLSetRule, plain, rule(func(r *switchdriver.ACLRule) { r.Ports = nil })),
		"port 0":                k.acl(switchdriver.ACLSetRule, plain, rule(func(r *switchdriver.ACLRule) { r.Ports = []uint32{0} })),
		"VLAN 4095":             k.acl(switchdriver.ACLSetRule, plain, rule(func(r *switchdriver.ACLRule) { r.VlanId = proto.Uint32(4095) })),
		"a mask of 13 bits":     k.acl(switchdriver.ACLCreateProfile, profile(func(p *switchdriver.ACLProfile) { p.VlanMask = proto.Uint32(0x1fff) }), nil),
	} {
		k.refused("an access list with "+name, err, bad...)
	}
}

func settings(k *kit) {
	all := &switchdriver.Settings{Switch: k.Switch, DisableStp: true, DisableBpduFlooding: true, DisableBroadcastFlooding: true,
		DisableMulticastFlooding: true, DisableUnknownFlooding: true, DisableLearning: true}
	end := k.sendsNothing("a dry run")
	dry := proto.CloneOf(all)
	dry.DryRun = true
	report, err := k.client.ApplySettings(k.ctx(), dry)
	k.must("a dry run", err)
	k.report("a dry run", report)
	end()
	report, err = k.client.ApplySettings(k.ctx(), all)
	k.must("ApplySettings", err)
	k.report("ApplySettings", report)
	if k.has("ReadStp") {
		if _, on, err := k.client.ReadSTP(k.ctx(), k.Switch, 0); err != nil || on {
			k.t.Errorf("spanning tree after the settings: %v, %v", on, err)
		}
	}
	none, err := k.client.ApplySettings(k.ctx(), &switchdriver.Settings{Switch: k.Switch})
	k.must("settings that ask for nothing", err)
	if len(none) > 0 {
		k.t.Errorf("settings that ask for nothing report %q", none)
	}
}

// report checks that each of the six settings has a line.
func (k *kit) report(what string, lines []string) {
	k.t.Helper()
	if len(lines) != 6 || slices.Contains(lines, "") {
		k.t.Errorf("%s reports %d lines for 6 settings: %q", what, len(lines), lines)
	}
	for _, l := range lines {
		k.discreet(what, l)
	}
}
