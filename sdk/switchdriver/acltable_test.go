package switchdriver

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
)

// Everything that a table shows is compared with what was asked for; what it shows
// nothing of is not.
func TestACLDiffers(t *testing.T) {
	profile := &ACLProfile{ProfileId: 1, ProfileName: "web", Layer: LayerIP, VlanMask: proto.Uint32(0xfff), SrcIpMask: "255.255.255.0"}
	rule := &ACLRule{RuleId: 3, Layer: LayerIP, Ports: []uint32{2, 1}, VlanId: proto.Uint32(10), SrcIp: "192.0.2.7", Action: ActionDeny}
	for name, c := range map[string]struct {
		action ACLAction
		show   func(p *ACLProfile, r *ACLRule)
		want   string // a part; empty: it does not differ
	}{
		"a profile":                {ACLCreateProfile, func(*ACLProfile, *ACLRule) {}, ""},
		"its name":                 {ACLCreateProfile, func(p *ACLProfile, _ *ACLRule) { p.ProfileName = "x" }, `name "x"`},
		"its layer":                {ACLCreateProfile, func(p *ACLProfile, _ *ACLRule) { p.Layer = LayerEthernet }, `layer "ETHERNET"`},
		"no masks shown":           {ACLCreateProfile, func(p *ACLProfile, _ *ACLRule) { p.VlanMask, p.SrcIpMask = nil, "" }, ""},
		"another VLAN mask":        {ACLCreateProfile, func(p *ACLProfile, _ *ACLRule) { p.VlanMask = proto.Uint32(0xff) }, "access profile 1 with the vlan-mask 255 (0xff)"},
		"no VLAN mask":             {ACLCreateProfile, func(p *ACLProfile, _ *ACLRule) { p.VlanMask = nil }, "no vlan-mask"},
		"another mask":             {ACLCreateProfile, func(p *ACLProfile, _ *ACLRule) { p.SrcIpMask = "255.0.0.0" }, `access profile 1 with the src-ip-mask "255.0.0.0"`},
		"no source mask":           {ACLCreateProfile, func(p *ACLProfile, _ *ACLRule) { p.SrcIpMask = "" }, "no src-ip-mask"},
		"one mask more":            {ACLCreateProfile, func(p *ACLProfile, _ *ACLRule) { p.DstIpMask = "255.0.0.0" }, `dst-ip-mask "255.0.0.0"`},
		"one mask without bits":    {ACLCreateProfile, func(p *ACLProfile, _ *ACLRule) { p.DstIpMask = "0.0.0.0" }, ""},
		"an invalid mask":          {ACLCreateProfile, func(p *ACLProfile, _ *ACLRule) { p.SrcIpMask = "x" }, `src-ip-mask "x"`},
		"a rule":                   {ACLSetRule, func(*ACLProfile, *ACLRule) {}, ""},
		"bits that are masked":     {ACLSetRule, func(_ *ACLProfile, r *ACLRule) { r.SrcIp = "192.0.2.0" }, ""},
		"bits that are not":        {ACLSetRule, func(_ *ACLProfile, r *ACLRule) { r.SrcIp = "192.0.3.7" }, `rule 3 of access profile 1 with the src-ip "192.0.3.7"`},
		"bits without a mask":      {ACLSetRule, func(p *ACLProfile, r *ACLRule) { p.SrcIpMask, r.SrcIp = "", "192.0.2.0" }, `src-ip "192.0.2.0"`},
		"no source":                {ACLSetRule, func(_ *ACLProfile, r *ACLRule) { r.SrcIp = "" }, "no src-ip"},
		"one address more":         {ACLSetRule, func(_ *ACLProfile, r *ACLRule) { r.DstIp = "192.0.2.1" }, `dst-ip "192.0.2.1"`},
		"another VLAN":             {ACLSetRule, func(_ *ACLProfile, r *ACLRule) { r.VlanId = proto.Uint32(11) }, "vlan-id 11"},
		"another VLAN, masked":     {ACLSetRule, func(p *ACLProfile, r *ACLRule) { p.VlanMask, r.VlanId = proto.Uint32(0xffe), proto.Uint32(11) }, ""},
		"no VLAN":                  {ACLSetRule, func(_ *ACLProfile, r *ACLRule) { r.VlanId = nil }, "no vlan-id"},
		"nothing of what it is on": {ACLSetRule, func(_ *ACLProfile, r *ACLRule) { r.VlanId, r.SrcIp = nil, "" }, ""},
		"another layer":            {ACLSetRule, func(_ *ACLProfile, r *ACLRule) { r.Layer = LayerEthernet }, `layer "ETHERNET"`},
		"another action":           {ACLSetRule, func(_ *ACLProfile, r *ACLRule) { r.Action = ActionPermit }, `action "PERMIT"`},
		"other ports":              {ACLSetRule, func(_ *ACLProfile, r *ACLRule) { r.Ports = []uint32{1, 3} }, "ports [1 3]"},
		"no ports shown":           {ACLSetRule, func(_ *ACLProfile, r *ACLRule) { r.Ports = nil }, ""},
		"a name":                   {ACLSetRule, func(_ *ACLProfile, r *ACLRule) { r.RuleName = "x" }, ""}, // none was asked for
		"still there":              {ACLDeleteRule, func(*ACLProfile, *ACLRule) {}, "rule 3 still"},
	} {
		shown := &ACLEntry{Profile: proto.CloneOf(profile), Rules: []*ACLRule{proto.CloneOf(rule)}}
		c.show(shown.Profile, shown.Rules[0])
		if got := ACLDiffers(c.action, profile, rule, []*ACLEntry{shown}); got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
