package vendorfile

import (
	"maps"
	"slices"
	"strings"

	"ctl.internal/internal/switchcli"
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

// The tags of a SET that makes a VLAN.
const (
	TagCreate   = "vlan_create"
	TagName     = "vlan_name"
	TagEgress   = "egress_ports"
	TagUntagged = "untagged_ports"
)

// lineTags are the tags that the lines of each function may have.
func lineTags() map[string][]string {
	vlan := []string{"vlan_id"}
	ports := append(slices.Clone(vlan), TagEgress, "tagged_ports", TagUntagged)
	profile := []string{"profile_id", "profile_name"}
	rule := append(slices.Clone(profile), "rule_id", "rule_name")
	return map[string][]string{
		AddVLANAndSetPort: append(slices.Clone(ports), TagName), AddVLAN: append(slices.Clone(vlan), TagName), DeleteVLAN: vlan, SetVLANPort: ports,
		CreateACLProfile: append(slices.Clone(profile), "vlan_mask", "src_ip_mask", "dst_ip_mask"), DeleteACLProfile: profile, ClearACLProfile: nil,
		SetACLRule: append(slices.Clone(rule), "port_list", "vlan_id", "src_ip", "dst_ip", "action"), DeleteACLRule: rule,
		EnableSTP: nil, DisableSTP: nil, EnableSTPPort: {"port"}, DisableSTPPort: {"port"},
	}
}

func (d *decoder) function(e *element) *Function {
	d.known(e, "function_name", "channel", "layer", "permit_tag", "deny_tag", "commands_with_items_in_order", "rollback_commands_in_order")
	f := &Function{Line: e.line, Name: d.required(e, "function_name"), Layer: d.oneOf(e, "layer", "mac", "ip", "ipv6"),
		Permit: d.text(e, "permit_tag"), Deny: d.text(e, "deny_tag")}
	tags := lineTags()
	if _, ok := tags[f.Name]; !ok && f.Name != "" {
		d.bad(e, "unknown function %.40q; known are: %s", f.Name, strings.Join(slices.Sorted(maps.Keys(tags)), ", "))
		return f
	}
	if f.Channel = d.oneOf(e, "channel", SNMP, switchcli.Telnet, switchcli.SSH); f.Channel == "" {
		d.bad(e, "<FunctionConfig> has no <channel>")
	}
	for _, w := range []string{f.Permit, f.Deny} {
		if _, err := switchcli.Word("permit_tag", w); w != "" && err != nil {
			d.bad(e, "%v", err)
		}
	}
	if f.Permit == "" {
		f.Permit = "permit"
	}
	if f.Deny == "" {
		f.Deny = "deny"
	}
	list := d.leaf(e, "commands_with_items_in_order")
	if list == nil {
		d.bad(e, "<FunctionConfig> has no <commands_with_items_in_order>")
		return f
	}
	if f.Channel == SNMP {
		d.sets(list, f)
		if r := d.leaf(e, "rollback_commands_in_order"); r != nil {
			d.bad(r, "SNMP changes are undone without commands")
		}
		return f
	}
	f.Commands = d.lines(list, tags[f.Name], 0)
	if r := d.leaf(e, "rollback_commands_in_order"); r != nil {
		f.Rollback = d.lines(r, tags[f.Name], 0)
	}
	if len(f.Commands) == 0 {
		d.bad(list, "there is no <command>")
	}
	return f
}

// sets reads commands that are SETs: each names the variable bindings of one.
func (d *decoder) sets(list *element, f *Function) {
	if f.Name != AddVLANAndSetPort {
		d.bad(list, "with SNMP only %s can be described", AddVLANAndSetPort)
	}
	d.only(list, "command")
	count := map[string]int{}
	for _, c := range list.children {
		t, err := parseTemplate(c.text, []string{TagCreate, TagName, TagEgress, TagUntagged})
		if err != nil {
			d.bad(c, "%v", err)
			continue
		}
		tags, ok := tagsOf(t)
		if !ok {
			d.bad(c, "an SNMP command has only tags")
		}
		for _, tag := range tags {
			count[tag]++
		}
		if len(f.Commands) == 0 && !slices.Contains(tags, TagCreate) {
			d.bad(c, "the first command does not create the VLAN: ${%s}$ is missing in it", TagCreate)
		}
		f.Commands = append(f.Commands, Command{Line: c.line, Template: t, Tags: tags})
	}
	for _, tag := range []string{TagCreate, TagName, TagEgress, TagUntagged} {
		if count[tag] != 1 {
			d.bad(list, "${%s}$ is %d times in the commands, not once", tag, count[tag])
		}
	}
}

// lines reads commands that are typed. A level is a mode of the command line: its first
// command enters it, and at its end <leave>, or exit, is typed.
func (d *decoder) lines(list *element, tags []string, depth int) (out []Command) {
	allowed := []string{"command", "level"}
	if depth > 0 {
		allowed = append(allowed, "leave")
	}
	d.only(list, allowed...)
	line := func(e *element, text string) {
		t, err := parseTemplate(text, tags)
		if err != nil {
			d.bad(e, "%v", err)
			return
		}
		if text == "" {
			d.bad(e, "the command is empty")
		}
		out = append(out, Command{Line: e.line, Template: t})
	}
	for _, c := range list.children {
		switch c.name {
		case "command":
			if len(c.children) > 0 {
				d.bad(c, "<command> has elements where text is expected")
			}
			line(c, c.text)
		case "level":
			out = append(out, d.lines(c, tags, depth+1)...)
			leave := d.text(c, "leave")
			if leave == "" {
				leave = "exit"
			}
			line(c, leave)
		}
	}
	return out
}
