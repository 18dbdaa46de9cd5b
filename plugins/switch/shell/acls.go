package shell

import (
	"context"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// acls shows the access lists of a switch, for which module acl has no RPC.
func (s *Shell) acls() commands.Command {
	return commands.Command{
		Name: "switch:acls", Summary: "Show the access lists of a switch", Safe: true,
		Help: "Reads the access profiles and their rules from the switch, by a driver that can. What the switch does not\n" +
			"show of a rule is empty.\n\nExample: switch:acls 90:94:e4:23:13:e0",
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
		{Title: "Ports", Key: "port-list", Max: 60}, {Title: "Action", Key: "acl-action"}}}
	for _, e := range table {
		p := e.GetProfile()
		if len(e.Rules) == 0 {
			t.Add(p.GetProfileId(), p.GetProfileName(), p.GetLayer(), "", commands.List[uint32](",", nil), "")
		}
		for _, r := range e.Rules {
			t.Add(p.GetProfileId(), p.GetProfileName(), p.GetLayer(), r.GetRuleId(), commands.List(",", r.GetPorts()), r.GetAction())
		}
	}
	return in.Emit(t, nil)
}

// switchArgument is the argument that names a switch of the list.
func (s *Shell) switchArgument(required bool) commands.Argument {
	return commands.Argument{Name: "switch", Help: "MAC address or node-id of one switch", Required: required, Complete: s.completeSwitch}
}

// named finds the switch that an argument names, by its MAC address or its node-id.
func (s *Shell) named(arg string) (*switchdriver.Switch, error) {
	m, err := mib.ParseMAC(arg)
	if err != nil {
		id, bad := strconv.ParseUint(arg, 10, 48)
		if bad != nil {
			return nil, fault.At(fault.Invalid, "switch", "%v, or the node-id", err)
		}
		m = mib.MAC(id)
	}
	return s.Inventory.Find(m)
}

// completeSwitch lists the MAC addresses that begin with prefix.
func (s *Shell) completeSwitch(_ context.Context, prefix string) (out []string) {
	for _, e := range s.Inventory.Entries() {
		if mac := e.MAC.String(); strings.HasPrefix(mac, strings.ToLower(prefix)) && len(out) < maxCompletions {
			out = append(out, mac)
		}
	}
	return out
}
