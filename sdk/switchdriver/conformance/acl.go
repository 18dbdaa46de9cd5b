package conformance

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

func (k *kit) applyACL(
	action switchdriver.ACLAction,
	p *switchdriver.ACLProfile,
	r *switchdriver.ACLRule,
) error {
	return k.client.ApplyACL(k.testContext(), k.Switch, action, p, r)
}

// aclShown checks that the switch shows what was done, where the driver reads it.
func (k *kit) aclShown(
	what string,
	action switchdriver.ACLAction,
	p *switchdriver.ACLProfile,
	r *switchdriver.ACLRule,
) {
	k.t.Helper()
	k.checkShown(what, &pluginv1.ApplyAclRequest{
		Action:  action,
		Profile: p,
		Rule:    r,
	})
}

func aclLife(k *kit) {
	ip := &switchdriver.ACLProfile{
		ProfileId:   3,
		ProfileName: "kit-ip",
		Layer:       switchdriver.LayerIP,
		SrcIpMask:   "255.255.255.0",
		DstIpMask:   "255.255.255.255",
	}
	eth := &switchdriver.ACLProfile{
		ProfileId:   4,
		ProfileName: "kit_eth",
		Layer:       switchdriver.LayerEthernet,
		VlanMask:    proto.Uint32(0xfff),
	}
	rule := &switchdriver.ACLRule{
		RuleId: 7,
		Ports:  k.Ports[:2],
		Layer:  switchdriver.LayerIP,
		SrcIp:  "192.0.2.0",
		DstIp:  "198.51.100.1",
		Action: switchdriver.ActionDeny,
	}
	k.checkRefused(
		"a rule of a profile that is not there",
		k.applyACL(switchdriver.ACLSetRule, ip, rule),
		fault.NotFound,
	)
	k.checkRefused(
		"removing a profile that is not there",
		k.applyACL(switchdriver.ACLDeleteProfile, ip, nil),
		fault.NotFound,
	)
	k.mustSucceed("making a profile", k.applyACL(switchdriver.ACLCreateProfile, ip, nil))
	k.aclShown("making a profile", switchdriver.ACLCreateProfile, ip, nil)
	k.checkRefused(
		"making a profile again",
		k.applyACL(switchdriver.ACLCreateProfile, ip, nil),
		fault.Exists,
	)
	k.mustSucceed("making an Ethernet profile", k.applyACL(switchdriver.ACLCreateProfile, eth, nil))
	k.mustSucceed(
		"making a rule",
		k.applyACL(switchdriver.ACLSetRule, &switchdriver.ACLProfile{ProfileId: 3}, rule),
	)
	k.aclShown("making a rule", switchdriver.ACLSetRule, ip, rule)
	k.mustSucceed("making an Ethernet rule by the profile's name", k.applyACL(switchdriver.ACLSetRule, &switchdriver.ACLProfile{ProfileName: "kit_eth"},
		&switchdriver.ACLRule{
			RuleId: 1,
			Ports:  k.Ports[:1],
			Layer:  switchdriver.LayerEthernet,
			VlanId: proto.Uint32(10),
			Action: switchdriver.ActionPermit,
		}))
	k.mustSucceed(
		"removing a rule",
		k.applyACL(switchdriver.ACLDeleteRule, &switchdriver.ACLProfile{ProfileId: 3}, rule),
	)
	k.aclShown("removing a rule", switchdriver.ACLDeleteRule, ip, rule)
	k.checkRefused(
		"removing a rule again",
		k.applyACL(switchdriver.ACLDeleteRule, &switchdriver.ACLProfile{ProfileId: 3}, rule),
		fault.NotFound,
	)
	k.mustSucceed(
		"removing a profile by its name",
		k.applyACL(
			switchdriver.ACLDeleteProfile,
			&switchdriver.ACLProfile{ProfileName: "kit-ip"},
			nil,
		),
	)
	k.aclShown("removing a profile", switchdriver.ACLDeleteProfile, ip, nil)
	k.mustSucceed("clearing", k.applyACL(switchdriver.ACLClear, nil, nil))
	k.aclShown("clearing", switchdriver.ACLClear, nil, nil)
	k.checkRefused(
		"removing what was cleared",
		k.applyACL(switchdriver.ACLDeleteProfile, eth, nil),
		fault.NotFound,
	)
	k.mustSucceed("clearing what is empty", k.applyACL(switchdriver.ACLClear, nil, nil))
}

// injectionValues are values that would add a command if they reached a command line.
func injectionValues() []string {
	return []string{"x\nreboot", "x\r\nreboot", "x\rreboot", "x;reboot", "x|reboot", "x reboot", "?", "x\treboot", "x\x00", "x\x03", "x\x1b[A", "\"x\" reboot",
		"'x'", "`reboot`", "$(reboot)", "${password}$", "x\\nreboot", "x{reboot}", "é", " ", "x&reboot", "x>f", "!x", "x#", "--help"}
}

func badACL(k *kit) {
	defer k.sendsNothing("refused access lists")()
	rule := func(f func(*switchdriver.ACLRule)) *switchdriver.ACLRule {
		r := &switchdriver.ACLRule{
			RuleId: 7,
			Ports:  k.Ports[:1],
			Layer:  switchdriver.LayerIP,
			SrcIp:  "192.0.2.0",
			Action: switchdriver.ActionDeny,
		}
		f(r)
		return r
	}
	profile := func(f func(*switchdriver.ACLProfile)) *switchdriver.ACLProfile {
		p := &switchdriver.ACLProfile{
			ProfileId:   3,
			ProfileName: "kit",
			Layer:       switchdriver.LayerIP,
			SrcIpMask:   "255.255.255.0",
		}
		f(p)
		return p
	}
	plain := profile(func(*switchdriver.ACLProfile) {})
	for _, e := range injectionValues() {
		for field, f := range map[string]func(*switchdriver.ACLProfile){
			"profile-name": func(p *switchdriver.ACLProfile) { p.ProfileName = e },
			"acl-layer":    func(p *switchdriver.ACLProfile) { p.Layer = e },
			"src-ip-mask":  func(p *switchdriver.ACLProfile) { p.SrcIpMask = e },
			"dst-ip-mask":  func(p *switchdriver.ACLProfile) { p.DstIpMask = e },
		} {
			k.checkRefused(fmt.Sprintf("%s %q", field, e), k.applyACL(switchdriver.ACLCreateProfile, profile(f), nil), bad...)
		}
		k.checkRefused(fmt.Sprintf("removing the profile %q", e), k.applyACL(
			switchdriver.ACLDeleteProfile,
			&switchdriver.ACLProfile{ProfileName: e},
			nil,
		), bad...)
		for field, f := range map[string]func(*switchdriver.ACLRule){
			"rule-name":  func(r *switchdriver.ACLRule) { r.RuleName = e },
			"acl-layer":  func(r *switchdriver.ACLRule) { r.Layer = e },
			"src-ip":     func(r *switchdriver.ACLRule) { r.SrcIp = e },
			"dst-ip":     func(r *switchdriver.ACLRule) { r.DstIp = e },
			"acl-action": func(r *switchdriver.ACLRule) { r.Action = e },
		} {
			k.checkRefused(fmt.Sprintf("%s %q", field, e), k.applyACL(switchdriver.ACLSetRule, plain, rule(f)), bad...)
		}
	}
	for name, err := range map[string]error{
		"no action":             k.applyACL(0, plain, nil),
		"an action of tomorrow": k.applyACL(99, plain, nil),
		"no profile":            k.applyACL(switchdriver.ACLCreateProfile, nil, nil),
		"no rule":               k.applyACL(switchdriver.ACLSetRule, plain, nil),
		"no ports": k.applyACL(
			switchdriver.ACLSetRule,
			plain,
			rule(func(r *switchdriver.ACLRule) { r.Ports = nil }),
		),
		"port 0": k.applyACL(
			switchdriver.ACLSetRule,
			plain,
			rule(func(r *switchdriver.ACLRule) { r.Ports = []uint32{0} }),
		),
		"VLAN 4095": k.applyACL(
			switchdriver.ACLSetRule,
			plain,
			rule(func(r *switchdriver.ACLRule) { r.VlanId = proto.Uint32(4095) }),
		),
		"a mask of 13 bits": k.applyACL(
			switchdriver.ACLCreateProfile,
			profile(func(p *switchdriver.ACLProfile) {
				p.VlanMask = proto.Uint32(0x1fff)
			}),
			nil,
		),
	} {
		k.checkRefused("an access list with "+name, err, bad...)
	}
}

func checkSettings(k *kit) {
	all := &switchdriver.Settings{
		Switch:                   k.Switch,
		DisableStp:               true,
		DisableBpduFlooding:      true,
		DisableBroadcastFlooding: true,
		DisableMulticastFlooding: true,
		DisableUnknownFlooding:   true,
		DisableLearning:          true,
	}
	end := k.sendsNothing("a dry run")
	dry := proto.CloneOf(all)
	dry.DryRun = true
	report, err := k.client.ApplySettings(k.testContext(), dry)
	k.mustSucceed("a dry run", err)
	k.checkReportLines("a dry run", report)
	end()
	report, err = k.client.ApplySettings(k.testContext(), all)
	k.mustSucceed("ApplySettings", err)
	k.checkReportLines("ApplySettings", report)
	if k.hasOperation("ReadStp") {
		_, on, err := k.client.ReadSTP(k.testContext(), k.Switch, 0)
		if err != nil || on {
			k.t.Errorf("spanning tree after the settings: %v, %v", on, err)
		}
	}
	none, err := k.client.ApplySettings(k.testContext(), &switchdriver.Settings{Switch: k.Switch})
	k.mustSucceed("settings that ask for nothing", err)
	if len(none) > 0 {
		k.t.Errorf("settings that ask for nothing report %q", none)
	}
}

// checkReportLines checks that each of the six settings has a line.
func (k *kit) checkReportLines(what string, lines []string) {
	k.t.Helper()
	if len(lines) != 6 || slices.Contains(lines, "") {
		k.t.Errorf("%s reports %d lines for 6 settings: %q", what, len(lines), lines)
	}
	for _, l := range lines {
		k.checkNoSecret(what, l)
	}
}
