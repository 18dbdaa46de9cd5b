package driver

import (
	"context"

	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/switchdriver"
)

// The bounds of what a driver may show of access lists.
const (
	maxACLs  = 4096
	maxACLID = 65535
)

// ApplyACL implements the operation. A driver that reads no access lists is believed.
func (g *guard) ApplyACL(ctx context.Context, sw *switchdriver.Switch, action switchdriver.ACLAction, p *switchdriver.ACLProfile, r *switchdriver.ACLRule) error {
	op := &writes.Operation{Name: "ApplyAcl", ACL: &pluginv1.ApplyAclRequest{Action: action, Profile: p, Rule: r}}
	return g.change(ctx, sw, op, func(ctx context.Context) error { return g.client.ApplyACL(ctx, sw, action, p, r) })
}

// ReadACL implements the operation.
func (g *guard) ReadACL(ctx context.Context, sw *switchdriver.Switch) ([]*switchdriver.ACLEntry, error) {
	table, err := call(ctx, g, sw, func(ctx context.Context) ([]*switchdriver.ACLEntry, error) { return g.client.ReadACL(ctx, sw) })
	if err != nil {
		return nil, err
	}
	seen, lines := map[uint32]bool{}, 0
	for _, e := range table {
		p := e.GetProfile()
		if id := p.GetProfileId(); id < 1 || id > maxACLID || seen[id] {
			return nil, g.lies(sw, "the access profile %d", id)
		}
		seen[p.ProfileId] = true
		if p.GetVlanMask() > 0xfff {
			return nil, g.lies(sw, "the vlan-mask %#x of access profile %d", p.GetVlanMask(), p.ProfileId)
		}
		p.ProfileName, p.Layer, p.SrcIpMask, p.DstIpMask = clean(p.ProfileName, maxName), clean(p.Layer, maxName), clean(p.SrcIpMask, maxName), clean(p.DstIpMask, maxName)
		if lines += 1 + len(e.Rules); lines > maxACLs {
			return nil, g.lies(sw, "more than %d access profiles and rules", maxACLs)
		}
		for _, r := range e.Rules {
			if r == nil || r.RuleId < 1 || r.RuleId > maxACLID || len(r.Ports) > maxPorts || r.GetVlanId() > maxVLANs {
				return nil, g.lies(sw, "a rule %d of access profile %d", r.GetRuleId(), p.ProfileId)
			}
			r.RuleName, r.Layer, r.Action, r.SrcIp, r.DstIp = clean(r.RuleName, maxName), clean(r.Layer, maxName), clean(r.Action, maxName), clean(r.SrcIp, maxName), clean(r.DstIp, maxName)
		}
	}
	return table, nil
}

// aclDiffers tells how a switch does not show a change of its access lists.
func aclDiffers(ctx context.Context, reader switchdriver.ACLReader, sw *switchdriver.Switch, asked *pluginv1.ApplyAclRequest) (string, error) {
	table, err := reader.ReadACL(ctx, sw)
	if err != nil {
		return "", err
	}
	return switchdriver.ACLDiffers(asked.Action, asked.Profile, asked.Rule, table), nil
}

// made tells whether the profile or rule that was to be made is there, be it otherwise.
func (g *guard) made(ctx context.Context, sw *switchdriver.Switch, asked *pluginv1.ApplyAclRequest) bool {
	table, err := g.ReadACL(ctx, sw)
	if err != nil {
		return false
	}
	have := switchdriver.FindACL(table, asked.Profile)
	return asked.Action == switchdriver.ACLCreateProfile && have != nil ||
		asked.Action == switchdriver.ACLSetRule && switchdriver.FindACLRule(have, asked.Rule.GetRuleId()) != nil
}
