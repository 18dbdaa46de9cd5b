package operations

import (
	"context"
	"slices"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

type setACLRuleIn struct {
	aclNodeIn
	profileIn
	RuleID   *int32  `json:"rule-id"`
	RuleName *string `json:"rule-name"`
	Ports    []int32 `json:"port-list"`
	Layer    *string `json:"acl-layer"`
	VLAN     *int32  `json:"vlan-id"`
	Src      *string `json:"src-ip"`
	Dst      *string `json:"dst-ip"`
	Action   *string `json:"acl-action"`
}

type setACLRuleOut struct {
	Result string `json:"set-acl-rule-result"`
}

// rule reads what names a rule. Switches know rules by number.
func (c *checker) rule(id *int32, name *string) *switchdriver.ACLRule {
	if id == nil {
		c.missing("rule-id")
	}
	return &switchdriver.ACLRule{RuleId: c.index("rule-id", id), RuleName: c.word("rule-name", name)}
}

func (h *Handlers) setACLRule(ctx context.Context, in setACLRuleIn) (*setACLRuleOut, error) {
	var c checker
	p, r := c.profile(in.profileIn, false), c.rule(in.RuleID, in.RuleName)
	r.Layer = c.oneOf("acl-layer", in.Layer, layerEthernet, layerIP)
	r.Action = c.oneOf("acl-action", in.Action, permit, deny)
	p.Layer = r.Layer
	if len(in.Ports) == 0 {
		c.faults = append(c.faults, fault.At(fault.Missing, "port-list", "port-list needs at least one port"))
	}
	for _, n := range in.Ports {
		if n < 1 || n > 65535 {
			c.invalid("port-list", "%d is no port number, 1 to 65535", n)
			continue
		}
		r.Ports = append(r.Ports, uint32(n))
	}
	slices.Sort(r.Ports)
	r.Ports = slices.Compact(r.Ports)
	if in.VLAN != nil {
		id := c.vlan(in.VLAN)
		r.VlanId = &id
	}
	r.SrcIp, r.DstIp = c.address("src-ip", in.Src), c.address("dst-ip", in.Dst)
	c.fields(r.Layer, "vlan-id", in.VLAN != nil, map[string]string{"src-ip": r.SrcIp, "dst-ip": r.DstIp})
	if err := h.applyACL(ctx, &c, in.NodeID, pluginv1.ApplyAclRequest_ACTION_SET_RULE, p, r); err != nil {
		return nil, err
	}
	return &setACLRuleOut{success}, nil
}

type delACLRuleIn struct {
	aclNodeIn
	profileIn
	RuleID   *int32  `json:"rule-id"`
	RuleName *string `json:"rule-name"`
}

type delACLRuleOut struct {
	Result string `json:"del-acl-rule-result"`
}

func (h *Handlers) delACLRule(ctx context.Context, in delACLRuleIn) (*delACLRuleOut, error) {
	var c checker
	p, r := c.profile(in.profileIn, false), c.rule(in.RuleID, in.RuleName)
	if err := h.applyACL(ctx, &c, in.NodeID, pluginv1.ApplyAclRequest_ACTION_DELETE_RULE, p, r); err != nil {
		return nil, err
	}
	return &delACLRuleOut{success}, nil
}
