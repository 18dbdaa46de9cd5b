package service

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"ctl.internal/internal/switchcli"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// aclIn is the input of all RPCs of module acl; each has some of the leaves.
type aclIn struct {
	Node        mib.MAC  `json:"nodeId"`
	ProfileID   uint32   `json:"profile-id"`
	ProfileName string   `json:"profile-name"`
	Layer       string   `json:"acl-layer"`
	VLANMask    *uint32  `json:"vlan-mask"`
	SrcMask     string   `json:"src-ip-mask"`
	DstMask     string   `json:"dst-ip-mask"`
	RuleID      uint32   `json:"rule-id"`
	RuleName    string   `json:"rule-name"`
	Ports       []uint32 `json:"port-list"`
	VLAN        *uint32  `json:"vlan-id"`
	Src         string   `json:"src-ip"`
	Dst         string   `json:"dst-ip"`
	Action      string   `json:"acl-action"`
}

// check returns what YANG cannot say of an input: which leaves an action needs, and what its texts are.
func (in *aclIn) check(action switchdriver.ACLAction) (l fault.List) {
	need := func(missing bool, leaf, text string) {
		if missing {
			l = append(l, fault.At(fault.Missing, leaf, "%s", text))
		}
	}
	for leaf, name := range map[string]string{"profile-name": in.ProfileName, "rule-name": in.RuleName} {
		if name != "" {
			_, err := switchcli.Word(leaf, name) // a command line must take it as one word
			l = append(l, fault.All(err)...)
		}
	}
	create, rule := action == switchdriver.ACLCreateProfile, action == switchdriver.ACLSetRule
	if create {
		need(in.ProfileID == 0, "profile-id", "profile-id is missing")
		need(in.ProfileName == "", "profile-name", "profile-name is missing")
		in.compare(&l, "vlan-mask", in.VLANMask, "src-ip-mask", &in.SrcMask, "dst-ip-mask", &in.DstMask)
	} else if action != switchdriver.ACLClear {
		need(in.ProfileID == 0 && in.ProfileName == "", "profile-id", "profile-id or profile-name is needed")
	}
	if rule || action == switchdriver.ACLDeleteRule {
		need(in.RuleID == 0, "rule-id", "rule-id is missing")
	}
	if rule {
		need(len(in.Ports) == 0, "port-list", "port-list needs at least one port")
		in.compare(&l, "vlan-id", in.VLAN, "src-ip", &in.Src, "dst-ip", &in.Dst)
	}
	slices.SortStableFunc(l, func(a, b *fault.Error) int { return strings.Compare(a.Path, b.Path) })
	return l
}

// compare checks the leaves that a layer compares.
func (in *aclIn) compare(l *fault.List, vlanLeaf string, vlan *uint32, srcLeaf string, src *string, dstLeaf string, dst *string) {
	for leaf, v := range map[string]*string{srcLeaf: src, dstLeaf: dst} {
		if *v == "" {
			continue
		}
		if a, err := netip.ParseAddr(*v); err != nil || !a.Is4() {
			*l = append(*l, fault.At(fault.Invalid, leaf, "%.40q is not an IPv4 address", *v))
		} else if *v = a.String(); in.Layer == switchdriver.LayerEthernet {
			*l = append(*l, fault.At(fault.Invalid, leaf, "a profile of layer %s compares the VLAN only", in.Layer))
		}
	}
	switch {
	case in.Layer == switchdriver.LayerEthernet && vlan == nil:
		*l = append(*l, fault.At(fault.Missing, vlanLeaf, "layer %s needs %s", in.Layer, vlanLeaf))
	case in.Layer == switchdriver.LayerIP && vlan == nil && *src == "" && *dst == "":
		*l = append(*l, fault.At(fault.Missing, vlanLeaf, "layer %s needs the VLAN, the source or the destination, at least one of them", in.Layer))
	}
}

// applyACL makes the handler of an action on access lists.
func (s *Service) applyACL(action switchdriver.ACLAction) func(context.Context, aclIn) error {
	return func(ctx context.Context, in aclIn) error {
		if l := in.check(action); len(l) > 0 {
			return l.Err()
		}
		asked := &pluginv1.ApplyAclRequest{Action: action}
		if action != switchdriver.ACLClear {
			asked.Profile = &switchdriver.ACLProfile{ProfileId: in.ProfileID, ProfileName: in.ProfileName, Layer: in.Layer,
				VlanMask: in.VLANMask, SrcIpMask: in.SrcMask, DstIpMask: in.DstMask}
		}
		if action == switchdriver.ACLSetRule || action == switchdriver.ACLDeleteRule {
			slices.Sort(in.Ports)
			asked.Rule = &switchdriver.ACLRule{RuleId: in.RuleID, RuleName: in.RuleName, Ports: slices.Compact(in.Ports), Layer: in.Layer,
				VlanId: in.VLAN, SrcIp: in.Src, DstIp: in.Dst, Action: in.Action}
		}
		sw, err := s.switchOf("nodeId", in.Node)
		if err == nil {
			_, err = s.writer.Do(ctx, sw, writes.Operation{Name: "ApplyAcl", What: "access lists: " + action.String(), ACL: asked})
		}
		return err
	}
}
