package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/switchdriver"
)

// acls shows the access lists of a switch, for which module acl has no RPC.
func (s *Shell) acls() commands.Command {
	return commands.Command{
		Name: "switch:acls", Summary: "Show the access lists of a switch", Safe: true,
		Help: "Reads the access profiles and their rules from the switch, by a driver that can. What the switch does not\n" +
			"show of a rule is empty.\n\nExample: switch:acls sw1",
		Arguments: []commands.Argument{s.switchArgument(true)},
		Run:       s.runACLs,
	}
}

func (s *Shell) runACLs(ctx context.Context, in *commands.Invocation) error {
	sw, err := s.named(in.Arg("switch"))
	if err != nil {
		return err
	}
	d, known, err := driver.For[switchdriver.ACLReader](ctx, s.Drivers, sw, "ReadAcl")
	if err != nil {
		return err
	}
	table, err := d.ReadACL(ctx, known)
	if err != nil {
		return err
	}
	t := commands.Table{Empty: "The switch has no access lists.", Columns: []commands.Column{{Title: "Profile", Key: "profile-id", Right: true},
		{Title: "Name", Key: "profile-name"}, {Title: "Layer", Key: "acl-layer"}, {Title: "Rule", Key: "rule-id", Right: true},
		{Title: "Ports", Key: "port-list", Max: 60}, {Title: "Action", Key: "acl-action"},
		{Title: "Mask", Key: "mask", Max: 60}, {Title: "Match", Key: "match", Max: 60}}}
	for _, e := range table {
		p := e.GetProfile()
		mask := matched(p.VlanMask, "%#x", p.GetSrcIpMask(), p.GetDstIpMask())
		if len(e.Rules) == 0 {
			t.Add(p.GetProfileId(), p.GetProfileName(), p.GetLayer(), "", commands.List[uint32](",", nil), "", mask, "")
		}
		for _, r := range e.Rules {
			t.Add(p.GetProfileId(), p.GetProfileName(), p.GetLayer(), r.GetRuleId(), commands.List(",", r.GetPorts()), r.GetAction(), mask, matched(r.VlanId, "%d", r.GetSrcIp(), r.GetDstIp()))
		}
	}
	return in.Emit(t, nil)
}

// matched is what a profile masks or a rule matches, in the words of the requests.
func matched(vlan *uint32, form, src, dst string) string {
	var out []string
	if vlan != nil {
		out = append(out, "vlan "+fmt.Sprintf(form, *vlan))
	}
	for what, a := range map[string]string{"src-ip ": src, "dst-ip ": dst} {
		if a != "" {
			out = append(out, what+a)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return -strings.Compare(a, b) }) // vlan, src, dst
	return strings.Join(out, " ")
}
