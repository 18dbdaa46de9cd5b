package switchdriver

import (
	"context"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/fault"
)

func TestCheckVLAN(t *testing.T) {
	has := func(p uint32) bool { return p >= 1 && p <= 4 }
	for name, c := range map[string]struct {
		v     *VLAN
		paths string
	}{
		"good":            {&VLAN{VlanId: 4094, Name: "lab 1", EgressPorts: []uint32{1, 4}, UntaggedPorts: []uint32{4}}, ""},
		"none":            {nil, "vlan"},
		"id 0":            {&VLAN{}, "vlan-id"},
		"id 4095":         {&VLAN{VlanId: 4095}, "vlan-id"},
		"everything":      {&VLAN{VlanId: 5000, Name: "a\nb", EgressPorts: []uint32{9}, UntaggedPorts: []uint32{1}}, "vlan-id vlan-name egress-ports untagged-ports"},
		"a name too long": {&VLAN{VlanId: 2, Name: strings.Repeat("x", 33)}, "vlan-name"},
	} {
		if got := paths(CheckVLAN(c.v, has)); got != c.paths {
			t.Errorf("%s: faults at %q, want %q", name, got, c.paths)
		}
	}
}

func paths(err error) string {
	var out []string
	for _, f := range fault.All(err) {
		out = append(out, f.Path)
	}
	return strings.Join(out, " ")
}

func TestCheckEntries(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		paths string
	}{
		"fdb":            {CheckFDBEntry(&FDBEntry{VlanId: 1, Mac: 0x020000000001, Port: 1}), ""},
		"fdb group":      {CheckFDBEntry(&FDBEntry{VlanId: 1, Mac: 0x010000000001, Port: 1}), "dest-mac-addr"},
		"fdb 49 bits":    {CheckFDBEntry(&FDBEntry{VlanId: 1, Mac: 1<<48 | 2, Port: 1}), "dest-mac-addr"},
		"fdb everything": {CheckFDBEntry(&FDBEntry{}), "vlan-id dest-mac-addr port"},
		"fdb none":       {CheckFDBEntry(nil), "entry"},
		"arp":            {CheckARPEntry(&ARPEntry{IpAddress: "192.0.2.1", Mac: 2}, 24), ""},
		"arp everything": {CheckARPEntry(&ARPEntry{IpAddress: "192.0.2.1; x"}, 33), "ip-address mac-address ip-address"},
		"arp v6":         {CheckARPEntry(&ARPEntry{IpAddress: "2001:db8::1", Mac: 2}, 0), "ip-address"},
		"switch":         {CheckSwitch(&Switch{Address: "2001:db8::1"}), ""},
		"no switch":      {CheckSwitch(nil), "switch"},
		"no address":     {CheckSwitch(&Switch{}), "switch/address"},
		"a host name":    {CheckSwitch(&Switch{Address: "-oProxyCommand=x"}), "switch/address"},
	} {
		if got := paths(c.err); got != c.paths {
			t.Errorf("%s: faults at %q, want %q", name, got, c.paths)
		}
	}
}

func TestCheckACL(t *testing.T) {
	prof := func(f func(*ACLProfile)) *ACLProfile {
		p := &ACLProfile{ProfileId: 1, ProfileName: "web", Layer: LayerIP, SrcIpMask: "255.255.255.0"}
		f(p)
		return p
	}
	rule := func(f func(*ACLRule)) *ACLRule {
		r := &ACLRule{RuleId: 1, Ports: []uint32{1}, Layer: LayerIP, DstIp: "192.0.2.1", Action: ActionDeny}
		f(r)
		return r
	}
	same, sameRule := func(*ACLProfile) {}, func(*ACLRule) {}
	for name, c := range map[string]struct {
		action ACLAction
		p      *ACLProfile
		r      *ACLRule
		paths  string
	}{
		"create":                   {ACLCreateProfile, prof(same), nil, ""},
		"create ethernet":          {ACLCreateProfile, prof(func(p *ACLProfile) { p.Layer, p.SrcIpMask, p.VlanMask = LayerEthernet, "", proto.Uint32(0xfff) }), nil, ""},
		"ethernet without":         {ACLCreateProfile, prof(func(p *ACLProfile) { p.Layer, p.SrcIpMask = LayerEthernet, "" }), nil, "vlan-mask"},
		"ethernet with addresses":  {ACLCreateProfile, prof(func(p *ACLProfile) { p.Layer, p.VlanMask = LayerEthernet, proto.Uint32(1) }), nil, "src-ip-mask"},
		"ip without":               {ACLCreateProfile, prof(func(p *ACLProfile) { p.SrcIpMask = "" }), nil, "vlan-mask"},
		"mask with a command":      {ACLCreateProfile, prof(func(p *ACLProfile) { p.SrcIpMask = "255.0.0.0\nreboot" }), nil, "src-ip-mask"},
		"vlan mask":                {ACLCreateProfile, prof(func(p *ACLProfile) { p.VlanMask = proto.Uint32(0x1000) }), nil, "vlan-mask"},
		"name with a blank":        {ACLCreateProfile, prof(func(p *ACLProfile) { p.ProfileName = "a b" }), nil, "profile-name"},
		"name with a line":         {ACLDeleteProfile, prof(func(p *ACLProfile) { p.ProfileName = "a\rreboot" }), nil, "profile-name"},
		"nothing to create":        {ACLCreateProfile, nil, nil, "profile-id profile-name acl-layer"},
		"by name":                  {ACLDeleteProfile, &ACLProfile{ProfileName: "web"}, nil, ""},
		"no profile":               {ACLDeleteProfile, &ACLProfile{}, nil, "profile-id"},
		"rule":                     {ACLSetRule, prof(same), rule(sameRule), ""},
		"no rule":                  {ACLSetRule, prof(same), nil, "rule-id port-list acl-action acl-layer"},
		"rule for a bad VLAN":      {ACLSetRule, prof(same), rule(func(r *ACLRule) { r.VlanId = proto.Uint32(0) }), "vlan-id"},
		"rule for port 0":          {ACLSetRule, prof(same), rule(func(r *ACLRule) { r.Ports = []uint32{0} }), "port-list"},
		"rule with another action": {ACLSetRule, prof(same), rule(func(r *ACLRule) { r.Action = "permit; reboot" }), "acl-action"},
		"rule with another layer":  {ACLSetRule, prof(same), rule(func(r *ACLRule) { r.Layer = "IPV6" }), "acl-layer"},
		"delete rule":              {ACLDeleteRule, &ACLProfile{ProfileName: "web"}, &ACLRule{RuleId: 1}, ""},
		"delete no rule":           {ACLDeleteRule, &ACLProfile{ProfileId: 1}, nil, "rule-id"},
		"clear":                    {ACLClear, nil, nil, ""},
		"unspecified":              {0, prof(same), nil, "action"},
	} {
		if got := paths(CheckACL(c.action, c.p, c.r)); got != c.paths {
			t.Errorf("%s: faults at %q, want %q", name, got, c.paths)
		}
	}
}

func TestTurns(t *testing.T) {
	var turns Turns
	a, b := &Switch{NodeId: 1, Address: "192.0.2.1"}, &Switch{NodeId: 2, Address: "192.0.2.2"}
	done, err := turns.Take(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := turns.Take(t.Context(), b)
	if err != nil {
		t.Fatal("another switch waits:", err)
	}
	other()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.Take(gone, a); fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), "00:00:00:00:00:01 (192.0.2.1)") {
		t.Errorf("a turn that does not come: %v", err)
	}
	inside, total := 0, 0
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			d, err := turns.Take(t.Context(), a)
			if err != nil {
				t.Error(err)
				return
			}
			if inside++; inside != 1 {
				t.Error("two changes at the same time")
			}
			total, inside = total+1, inside-1
			d()
		})
	}
	done()
	all.Wait()
	if total != 20 || len(turns.queue) != 0 {
		t.Errorf("%d turns, %d switches remembered", total, len(turns.queue))
	}
}
