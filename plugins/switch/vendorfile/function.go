package vendorfile

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"ctl.internal/internal/switchcli"
	"ctl.internal/plugins/switch/mibdriver"
)

// SNMP is the channel of functions that are SETs.
const SNMP = "snmp"

// The functions.
const (
	AddVLANAndSetPort = "add_vlan_and_set_port"
	AddVLAN           = "add_vlan"
	DeleteVLAN        = "delete_vlan"
	SetVLANPort       = "set_vlan_port"
	CreateACLProfile  = "create_acl_profile"
	DeleteACLProfile  = "delete_acl_profile"
	ClearACLProfile   = "clear_acl_profile"
	SetACLRule        = "set_acl_rule"
	DeleteACLRule     = "delete_acl_rule"
	EnableSTP         = "enable_stp"
	DisableSTP        = "disable_stp"
	EnableSTPPort     = "enable_stp_port"
	DisableSTPPort    = "disable_stp_port"
)

// described is an operation of the driver contract that a function describes, and the tags that its lines may have.
type described struct {
	operation string
	tags      []string
}

func describedFunctions() map[string]described {
	vlan := []string{"vlan_id"}
	ports := append(slices.Clone(vlan), mibdriver.SetEgress, "tagged_ports", mibdriver.SetUntagged)
	profile := []string{"profile_id", "profile_name"}
	rule := append(slices.Clone(profile), "rule_id", "rule_name")
	return map[string]described{
		AddVLANAndSetPort: {"WriteVlan", append(slices.Clone(ports), mibdriver.SetName)},
		AddVLAN:           {"WriteVlan", append(slices.Clone(vlan), mibdriver.SetName)},
		SetVLANPort:       {"WriteVlan", ports},
		DeleteVLAN:        {"DeleteVlan", vlan},
		CreateACLProfile: {"ApplyAcl", append(
			slices.Clone(profile),
			"vlan_mask",
			"src_ip_mask",
			"dst_ip_mask",
		)},
		DeleteACLProfile: {"ApplyAcl", profile},
		ClearACLProfile:  {"ApplyAcl", nil},
		SetACLRule: {"ApplyAcl", append(
			slices.Clone(rule),
			"port_list",
			"vlan_id",
			"src_ip",
			"dst_ip",
			"action",
		)},
		DeleteACLRule:  {"ApplyAcl", rule},
		EnableSTP:      {"WriteStp", nil},
		DisableSTP:     {"WriteStp", nil},
		EnableSTPPort:  {"WriteStp", []string{"port"}},
		DisableSTPPort: {"WriteStp", []string{"port"}},
	}
}

func (d *decoder) decodeFunction(e *element) *Function {
	d.checkChildren(
		e,
		"function_name",
		"channel",
		"layer",
		"permit_tag",
		"deny_tag",
		"commands_with_items_in_order",
		"rollback_commands_in_order",
	)
	f := &Function{
		Line:   e.line,
		Name:   d.requiredText(e, "function_name"),
		Layer:  d.oneOf(e, "layer", "mac", "ip", "ipv6"),
		Permit: cmp.Or(d.leafText(e, "permit_tag"), "permit"),
		Deny:   cmp.Or(d.leafText(e, "deny_tag"), "deny"),
	}
	all := describedFunctions()
	if _, ok := all[f.Name]; !ok && f.Name != "" {
		d.reportProblem(
			e,
			"unknown function %.40q; known are: %s",
			f.Name,
			strings.Join(slices.Sorted(maps.Keys(all)), ", "),
		)
		return f
	}
	if f.Channel = d.oneOf(e, "channel", SNMP, switchcli.Telnet, switchcli.SSH); f.Channel == "" {
		d.reportProblem(e, "<FunctionConfig> has no <channel>")
	}
	for _, w := range []string{f.Permit, f.Deny} {
		if _, err := switchcli.Word("permit_tag", w); err != nil {
			d.reportProblem(e, "%v", err)
		}
	}
	list := d.leafChild(e, "commands_with_items_in_order")
	if list == nil {
		d.reportProblem(e, "<FunctionConfig> has no <commands_with_items_in_order>")
		return f
	}
	if f.Channel == SNMP {
		d.decodeSets(list, f)
		if r := d.leafChild(e, "rollback_commands_in_order"); r != nil {
			d.reportProblem(r, "SNMP changes are undone without commands")
		}
		return f
	}
	f.Commands = d.decodeCommands(list, all[f.Name].tags, 0)
	if r := d.leafChild(e, "rollback_commands_in_order"); r != nil {
		f.Rollback = d.decodeCommands(r, all[f.Name].tags, 0)
	}
	if len(f.Commands) == 0 {
		d.reportProblem(list, "there is no <command>")
	}
	return f
}

// decodeSets reads commands that are SETs: each names the variable bindings of one.
func (d *decoder) decodeSets(list *element, f *Function) {
	if f.Name != AddVLANAndSetPort {
		d.reportProblem(list, "with SNMP only %s can be described", AddVLANAndSetPort)
	}
	d.requireOnly(list, "command")
	all := []string{mibdriver.CreateAndGo, mibdriver.SetName, mibdriver.SetEgress, mibdriver.SetUntagged}
	count := map[string]int{}
	for _, c := range list.children {
		t, err := parseTemplate(c.text, all)
		if err != nil {
			d.reportProblem(c, "%v", err)
			continue
		}
		tags, ok := tagsOf(t)
		if !ok {
			d.reportProblem(c, "an SNMP command has only tags")
		}
		for _, tag := range tags {
			count[tag]++
		}
		if len(f.SETs) == 0 && !slices.Contains(tags, mibdriver.CreateAndGo) {
			d.reportProblem(
				c,
				"the first command does not create the VLAN: ${%s}$ is missing in it",
				mibdriver.CreateAndGo,
			)
		}
		f.SETs = append(f.SETs, tags)
	}
	for _, tag := range all {
		if count[tag] != 1 {
			d.reportProblem(list, "${%s}$ is %d times in the commands, not once", tag, count[tag])
		}
	}
}

// decodeCommands reads commands that are typed. A level is a mode of the command line: its first
// command enters it, and at its end <leave>, or exit, is typed.
func (d *decoder) decodeCommands(list *element, tags []string, depth int) (out []Command) {
	allowed := []string{"command", "level"}
	if depth > 0 {
		allowed = append(allowed, "leave")
	}
	d.requireOnly(list, allowed...)
	line := func(e *element, text string) {
		t, err := parseTemplate(text, tags)
		if err != nil {
			d.reportProblem(e, "%v", err)
			return
		}
		if text == "" {
			d.reportProblem(e, "the command is empty")
		}
		out = append(out, Command{Line: e.line, Template: t})
	}
	for _, c := range list.children {
		switch c.name {
		case "command":
			if len(c.children) > 0 {
				d.reportProblem(c, "<command> has elements where text is expected")
			}
			line(c, c.text)
		case "level":
			out = append(out, d.decodeCommands(c, tags, depth+1)...)
			line(c, cmp.Or(d.leafText(c, "leave"), "exit"))
		}
	}
	return out
}
