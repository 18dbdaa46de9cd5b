package device

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"ctl.internal/internal/switchcli"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// The command lines that D-Link documents and that users of the old system know.
func TestLines(t *testing.T) {
	table := []*switchdriver.ACLEntry{{Profile: &switchdriver.ACLProfile{ProfileId: 1, ProfileName: "web"}, Rules: []*switchdriver.ACLRule{{RuleId: 5}}}}
	id, name := &switchdriver.ACLProfile{ProfileId: 1}, &switchdriver.ACLProfile{ProfileName: "web"}
	for want, c := range map[string]struct {
		action switchdriver.ACLAction
		p      *switchdriver.ACLProfile
		r      *switchdriver.ACLRule
	}{
		"create access_profile profile_id 2 profile_name lab ethernet vlan 0x0fff": {switchdriver.ACLCreateProfile,
			&switchdriver.ACLProfile{ProfileId: 2, ProfileName: "lab", Layer: "ETHERNET", VlanMask: proto.Uint32(4095)}, nil},
		"create access_profile profile_id 2 profile_name lab ip vlan 0x0001 source_ip_mask 255.255.255.0 destination_ip_mask 255.0.0.0": {switchdriver.ACLCreateProfile,
			&switchdriver.ACLProfile{ProfileId: 2, ProfileName: "lab", Layer: "IP", VlanMask: proto.Uint32(1), SrcIpMask: "255.255.255.0", DstIpMask: "255.0.0.0"}, nil},
		"config access_profile profile_id 1 add access_id 6 ethernet vlan_id 10 port 1,2,3 permit": {switchdriver.ACLSetRule, id,
			&switchdriver.ACLRule{RuleId: 6, Layer: "ETHERNET", VlanId: proto.Uint32(10), Ports: []uint32{1, 2, 3}, Action: "PERMIT"}},
		"config access_profile profile_name web add access_id 6 ip source_ip 192.0.2.1 destination_ip 192.0.2.2 port 28 deny": {switchdriver.ACLSetRule, name,
			&switchdriver.ACLRule{RuleId: 6, Layer: "IP", SrcIp: "192.0.2.1", DstIp: "192.0.2.2", Ports: []uint32{28}, Action: "DENY"}},
		"config access_profile profile_id 1 delete access_id 5": {switchdriver.ACLDeleteRule, id, &switchdriver.ACLRule{RuleId: 5}},
		"delete access_profile profile_id 1":                    {switchdriver.ACLDeleteProfile, &switchdriver.ACLProfile{ProfileId: 1, ProfileName: "other"}, nil},
		"delete access_profile profile_name web":                {switchdriver.ACLDeleteProfile, name, nil},
		"delete access_profile all":                             {switchdriver.ACLClear, nil, nil},
	} {
		if got, err := ACL(c.action, c.p, c.r, table); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	for got, want := range map[string]string{STP(0, true): "enable stp", STP(0, false): "disable stp", STP(7, false): "config stp ports 7-7 state disable"} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// No value becomes a second command or word, whoever has checked it or not.
func TestNothingIsSmuggledIn(t *testing.T) {
	table := []*switchdriver.ACLEntry{{Profile: &switchdriver.ACLProfile{ProfileId: 1, ProfileName: "web"}}}
	for _, evil := range []string{"x\nreboot", "x\rreboot", "x reboot", "x;reboot", "x?", "x\treboot", "\"x", "x|y", "x\x00", "x\x1b[A", "ü", "x$y", "`x`", "x!", "x#", "x&y", "", strings.Repeat("x", 300)} {
		for field, c := range map[string]struct {
			action switchdriver.ACLAction
			p      *switchdriver.ACLProfile
			r      *switchdriver.ACLRule
		}{
			"profile-name": {switchdriver.ACLCreateProfile, &switchdriver.ACLProfile{ProfileId: 2, ProfileName: evil, Layer: "IP", SrcIpMask: "255.0.0.0"}, nil},
			"src-ip-mask":  {switchdriver.ACLCreateProfile, &switchdriver.ACLProfile{ProfileId: 2, ProfileName: "a", Layer: "IP", SrcIpMask: evil}, nil},
			"dst-ip-mask":  {switchdriver.ACLCreateProfile, &switchdriver.ACLProfile{ProfileId: 2, ProfileName: "a", Layer: "IP", DstIpMask: evil}, nil},
			"src-ip":       {switchdriver.ACLSetRule, &switchdriver.ACLProfile{ProfileId: 1}, &switchdriver.ACLRule{RuleId: 1, Layer: "IP", SrcIp: evil, Ports: []uint32{1}, Action: "DENY"}},
			"dst-ip":       {switchdriver.ACLSetRule, &switchdriver.ACLProfile{ProfileId: 1}, &switchdriver.ACLRule{RuleId: 1, Layer: "IP", DstIp: evil, Ports: []uint32{1}, Action: "DENY"}},
			"layer":        {switchdriver.ACLSetRule, &switchdriver.ACLProfile{ProfileId: 1}, &switchdriver.ACLRule{RuleId: 1, Layer: evil, Ports: []uint32{1}, Action: evil}},
		} {
			line, err := ACL(c.action, c.p, c.r, table)
			if err == nil && (strings.Contains(line, "reboot") || (evil != "" && strings.Contains(line, evil))) {
				t.Errorf("%s %q became %q", field, evil, line)
			}
			if checked := switchdriver.CheckACL(c.action, c.p, c.r); checked == nil {
				t.Errorf("%s %q passes the check of the contract", field, evil)
			}
		}
	}
}

func TestParse(t *testing.T) {
	p := NewParser()
	text := "Access Profile Table\n\nTotal User Set Rule Entries : 2\n====\nProfile ID: 1    Profile name: EtherACL  Type: Ethernet\n\nMASK on\n    VLAN             : 0xFFF\n    802.1p\n----\nRule ID : 1            Ports: 1\n\nMatch on\n    VLAN ID : 10\n    802.1p : 3\n\nAction:\n    Deny\n----\nRule ID : 20 (auto assign)  Ports: 1-3\nRule ID : 21  Ports: 1:1-1:3,2:7\n====\n" +
		"Profile ID: 2    Profile name: web  Type: IPv4\n\nMASK on\n    vlan 0x0001 source_ip_mask 255.255.255.0 destination_ip_mask 255.0.0.0\n\nRule ID : 1  Ports: 1,2\n\nMatch on\n    vlan_id 1 source_ip 192.0.2.0 destination_ip 10.0.0.0\n\nAction:\n    Permit\n" +
		"Profile ID: 3    Profile name: odd  Type: IP\nMASK on\n    VLAN\n    Source IP Mask : 255.255.255.0\n    VLAN : 0xFFFF\nRule ID : 1  Ports: 1\nMatch on\n    VLAN : default\n    Source IP : 192.0.2.0\nRule ID : 2  Ports: 1:60-2:3\nMatch on\n    Source IP : 192.0.2.0\nProfile ID: 4    Profile name: v6  Type: IPv6\n"
	table, ok := p.Table(text)
	vlan := proto.Uint32
	want := []*switchdriver.ACLEntry{
		{Profile: &switchdriver.ACLProfile{ProfileId: 1, ProfileName: "EtherACL", Layer: "ETHERNET", VlanMask: vlan(0xfff)}, Rules: []*switchdriver.ACLRule{
			{RuleId: 1, Layer: "ETHERNET", Ports: []uint32{1}, VlanId: vlan(10), Action: "DENY"}, {RuleId: 20, Layer: "ETHERNET", Ports: []uint32{1, 2, 3}},
			{RuleId: 21, Layer: "ETHERNET", Ports: []uint32{1, 2, 3, 71}}}},
		{Profile: &switchdriver.ACLProfile{ProfileId: 2, ProfileName: "web", Layer: "IP", VlanMask: vlan(1), SrcIpMask: "255.255.255.0", DstIpMask: "255.0.0.0"}, Rules: []*switchdriver.ACLRule{
			{RuleId: 1, Layer: "IP", Ports: []uint32{1, 2}, VlanId: vlan(1), SrcIp: "192.0.2.0", DstIp: "10.0.0.0", Action: "PERMIT"}}},
		// A VLAN that is reported in another way: nothing of it is compared.
		{Profile: &switchdriver.ACLProfile{ProfileId: 3, ProfileName: "odd", Layer: "IP"}, Rules: []*switchdriver.ACLRule{
			{RuleId: 1, Layer: "IP", Ports: []uint32{1}}, {RuleId: 2, Layer: "IP", SrcIp: "192.0.2.0"}}},
		{Profile: &switchdriver.ACLProfile{ProfileId: 4, ProfileName: "v6"}}}
	if d := cmp.Diff(want, table, protocmp.Transform()); d != "" || !ok {
		t.Errorf("%v %s", ok, d)
	}
	if empty, ok := p.Table("Access Profile Table\n\nTotal User Set Rule Entries : 0\n"); !ok || len(empty) != 0 {
		t.Errorf("an empty table: %v %v", empty, ok)
	}
	if _, ok := p.Table("Available commands:\n..\n"); ok {
		t.Error("a refusal is a table")
	}
	for text, want := range map[string]bool{"Command: x\n\nSuccess.\n": true, "Success\n": true, "Fail!\n": false, "no Success here\n": false, "": false, "Unsuccessful": false} {
		if p.Success(text) != want {
			t.Errorf("success of %q", text)
		}
	}
	if on, known := p.STP(" STP Status          : Enabled\n"); !on || !known {
		t.Error("STP")
	}
	if on, known := p.PortSTP("Port Index : 1 , Hello Time: 2/2 , Port STP : Disabled ,"); on || !known {
		t.Error("port STP")
	}
	if got := switchcli.Reason("Command: create x\r\n\r\nThe profile \x1b[1mis there.\r\n\r\nFail!\r\n"); got != "The profile [1mis there. / Fail!" {
		t.Errorf("%q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Profile ID: 1    Profile name: EtherACL  Type: Ethernet\nRule ID : 1            Ports: 1\n")
	f.Add("Profile ID: 1  Profile name: a  Type: IPv4\nMASK on\n    vlan 0x0001 source_ip_mask 255.255.255.0\nRule ID : 1  Ports: 1:1-1:3,2:7\nMatch on\n    VLAN ID : 10\n    Source IP : 192.0.2.0\nAction:\n    Permit\n")
	f.Add("Profile ID: 99999999999\nAccess ID: 1\n")
	f.Add("STP Status : Enabled\n Port STP : Disabled\nSuccess.\n")
	p := NewParser()
	f.Fuzz(func(t *testing.T, text string) {
		table, _ := p.Table(text)
		for _, e := range table {
			if q := e.Profile; q.ProfileId < 1 || q.ProfileId > 0xffff || q.GetVlanMask() > 0xfff || len(q.SrcIpMask)+len(q.DstIpMask) > 30 {
				t.Errorf("profile %v", q)
			}
			for _, r := range e.Rules {
				if r.RuleId > 0xffff || len(r.Ports) > maxPorts || slices.Contains(r.Ports, 0) || r.VlanId != nil && switchdriver.CheckVLANID(*r.VlanId) != nil {
					t.Errorf("rule %v", r)
				}
			}
		}
		p.STP(text)
		p.PortSTP(text)
		if r := switchcli.Reason(text); r == "" || len(r) > 210 || strings.ContainsAny(r, "\r\n\x1b") {
			t.Errorf("%q", r)
		}
	})
}

func TestRefusals(t *testing.T) {
	table := []*switchdriver.ACLEntry{{Profile: &switchdriver.ACLProfile{ProfileId: 1, ProfileName: "web"}, Rules: []*switchdriver.ACLRule{{RuleId: 5}}}, {Profile: &switchdriver.ACLProfile{ProfileId: 4, ProfileName: "mac", Layer: "ETHERNET"}}}
	for name, c := range map[string]struct {
		action switchdriver.ACLAction
		p      *switchdriver.ACLProfile
		r      *switchdriver.ACLRule
		kind   fault.Kind
	}{
		"id there":        {switchdriver.ACLCreateProfile, &switchdriver.ACLProfile{ProfileId: 1, ProfileName: "new"}, nil, fault.Exists},
		"name there":      {switchdriver.ACLCreateProfile, &switchdriver.ACLProfile{ProfileId: 2, ProfileName: "web"}, nil, fault.Exists},
		"another layer":   {switchdriver.ACLSetRule, &switchdriver.ACLProfile{ProfileId: 4}, &switchdriver.ACLRule{RuleId: 5, Layer: "IP"}, fault.Invalid},
		"no profile":      {switchdriver.ACLDeleteProfile, &switchdriver.ACLProfile{ProfileId: 2, ProfileName: "web"}, nil, fault.NotFound},
		"no such name":    {switchdriver.ACLDeleteProfile, &switchdriver.ACLProfile{ProfileName: "mail"}, nil, fault.NotFound},
		"rule there":      {switchdriver.ACLSetRule, &switchdriver.ACLProfile{ProfileId: 1}, &switchdriver.ACLRule{RuleId: 5}, fault.Exists},
		"rule of nothing": {switchdriver.ACLSetRule, &switchdriver.ACLProfile{ProfileId: 2}, &switchdriver.ACLRule{RuleId: 5}, fault.NotFound},
		"no rule":         {switchdriver.ACLDeleteRule, &switchdriver.ACLProfile{ProfileId: 1}, &switchdriver.ACLRule{RuleId: 6}, fault.NotFound},
		"no action":       {0, &switchdriver.ACLProfile{ProfileId: 1}, nil, fault.Invalid},
	} {
		if _, err := ACL(c.action, c.p, c.r, table); err == nil || fault.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}
