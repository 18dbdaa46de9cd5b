package driver

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/switchdriver"
)

// The bounds of answers, and of a name in one.
const (
	maxVLANs   = 4094
	maxEntries = 1 << 20
	maxPorts   = 65535
	maxName    = 255
)

// ReadVLANs implements the operation.
func (g *checked) ReadVLANs(ctx context.Context, sw *switchdriver.Switch) ([]*switchdriver.VLAN, error) {
	vlans, err := call(ctx, g, sw, func(ctx context.Context) ([]*switchdriver.VLAN, error) { return g.client.ReadVLANs(ctx, sw) })
	if err != nil {
		return nil, err
	}
	if len(vlans) > maxVLANs {
		return nil, g.impossible(sw, "%d VLANs", len(vlans))
	}
	seen := map[uint32]bool{}
	for _, v := range vlans {
		if v == nil || seen[v.VlanId] {
			return nil, g.impossible(sw, "a VLAN twice, or none")
		}
		seen[v.VlanId] = true
		if err := g.checkVLAN(sw, v); err != nil {
			return nil, err
		}
	}
	return vlans, nil
}

func (g *checked) checkVLAN(sw *switchdriver.Switch, v *switchdriver.VLAN) error {
	if v.VlanId < 1 || v.VlanId > maxVLANs {
		return g.impossible(sw, "VLAN %d", v.VlanId)
	}
	v.Name = clean(v.Name, maxName)
	for _, list := range [][]uint32{v.EgressPorts, v.UntaggedPorts} {
		for _, p := range list {
			if p < 1 || p > maxPorts {
				return g.impossible(sw, "port %d in VLAN %d", p, v.VlanId)
			}
		}
		slices.Sort(list)
	}
	v.EgressPorts, v.UntaggedPorts = slices.Compact(v.EgressPorts), slices.Compact(v.UntaggedPorts)
	for _, p := range v.UntaggedPorts {
		if !slices.Contains(v.EgressPorts, p) {
			return g.impossible(sw, "port %d untagged in VLAN %d and not in it", p, v.VlanId)
		}
	}
	return nil
}

// ReadFDB implements the operation.
func (g *checked) ReadFDB(ctx context.Context, sw *switchdriver.Switch, vlanID uint32, mac uint64) ([]*switchdriver.FDBEntry, error) {
	all, err := call(ctx, g, sw, func(ctx context.Context) ([]*switchdriver.FDBEntry, error) {
		return g.client.ReadFDB(ctx, sw, vlanID, mac)
	})
	if err != nil {
		return nil, err
	}
	if len(all) > maxEntries || vlanID != 0 && len(all) > 1 {
		return nil, g.impossible(sw, "%d entries of a forwarding table", len(all))
	}
	for _, e := range all {
		if e == nil || e.VlanId > maxVLANs || !mib.MAC(e.Mac).Valid() || e.Port < 1 || e.Port > maxPorts ||
			vlanID != 0 && (e.VlanId != vlanID || e.Mac != mac) {
			return nil, g.impossible(sw, "the forwarding entry %v", e)
		}
	}
	return all, nil
}

// ReadSTP implements the operation.
func (g *checked) ReadSTP(ctx context.Context, sw *switchdriver.Switch, port uint32) ([]*switchdriver.STPPort, bool, error) {
	type answer struct {
		ports []*switchdriver.STPPort
		on    bool
	}
	a, err := call(ctx, g, sw, func(ctx context.Context) (a answer, err error) {
		a.ports, a.on, err = g.client.ReadSTP(ctx, sw, port)
		return a, err
	})
	if err != nil {
		return nil, false, err
	}
	if len(a.ports) > maxPorts || port != 0 && len(a.ports) != 1 {
		return nil, false, g.impossible(sw, "%d ports of a spanning tree", len(a.ports))
	}
	for _, p := range a.ports {
		if p == nil || p.Port < 1 || p.Port > maxPorts || port != 0 && p.Port != port || p.State < 0 || p.State > 6 ||
			len(p.DesignatedRoot) != 0 && len(p.DesignatedRoot) != 8 {
			return nil, false, g.impossible(sw, "the spanning tree port %v", p)
		}
	}
	return a.ports, a.on, nil
}

// ReadARP implements the operation.
func (g *checked) ReadARP(ctx context.Context, sw *switchdriver.Switch, address string) ([]*switchdriver.ARPEntry, error) {
	all, err := call(ctx, g, sw, func(ctx context.Context) ([]*switchdriver.ARPEntry, error) { return g.client.ReadARP(ctx, sw, address) })
	if err != nil {
		return nil, err
	}
	if len(all) > maxEntries {
		return nil, g.impossible(sw, "%d ARP entries", len(all))
	}
	for _, e := range all {
		if _, err := netip.ParseAddr(e.GetIpAddress()); err != nil || !mib.MAC(e.Mac).Valid() || address != "" && e.IpAddress != address {
			return nil, g.impossible(sw, "the ARP entry %.60q", e.GetIpAddress())
		}
	}
	return all, nil
}

// The bounds of what a driver may show of access lists.
const (
	maxACLs  = 4096
	maxACLID = 65535
)

// ReadACL implements the operation.
func (g *checked) ReadACL(ctx context.Context, sw *switchdriver.Switch) ([]*switchdriver.ACLEntry, error) {
	table, err := call(ctx, g, sw, func(ctx context.Context) ([]*switchdriver.ACLEntry, error) { return g.client.ReadACL(ctx, sw) })
	if err != nil {
		return nil, err
	}
	seen, lines := map[uint32]bool{}, 0
	for _, e := range table {
		p := e.GetProfile()
		if id := p.GetProfileId(); id < 1 || id > maxACLID || seen[id] {
			return nil, g.impossible(sw, "the access profile %d", id)
		}
		seen[p.ProfileId] = true
		if p.GetVlanMask() > 0xfff {
			return nil, g.impossible(sw, "the vlan-mask %#x of access profile %d", p.GetVlanMask(), p.ProfileId)
		}
		p.ProfileName, p.Layer, p.SrcIpMask, p.DstIpMask = clean(p.ProfileName, maxName), clean(p.Layer, maxName), clean(p.SrcIpMask, maxName), clean(p.DstIpMask, maxName)
		if lines += 1 + len(e.Rules); lines > maxACLs {
			return nil, g.impossible(sw, "more than %d access profiles and rules", maxACLs)
		}
		for _, r := range e.Rules {
			if r == nil || r.RuleId < 1 || r.RuleId > maxACLID || len(r.Ports) > maxPorts || r.GetVlanId() > maxVLANs {
				return nil, g.impossible(sw, "a rule %d of access profile %d", r.GetRuleId(), p.ProfileId)
			}
			r.RuleName, r.Layer, r.Action, r.SrcIp, r.DstIp = clean(r.RuleName, maxName), clean(r.Layer, maxName), clean(r.Action, maxName), clean(r.SrcIp, maxName), clean(r.DstIp, maxName)
		}
	}
	return table, nil
}

// aclDiffers says how a switch does not show a change of its access lists.
func aclDiffers(ctx context.Context, reader switchdriver.ACLReader, sw *switchdriver.Switch, asked *pluginv1.ApplyAclRequest) (string, error) {
	table, err := reader.ReadACL(ctx, sw)
	if err != nil {
		return "", err
	}
	return switchdriver.ACLDiffers(asked.Action, asked.Profile, asked.Rule, table), nil
}

// made reports whether the profile or rule that was to be made is there, be it otherwise.
func (g *checked) made(ctx context.Context, sw *switchdriver.Switch, asked *pluginv1.ApplyAclRequest) bool {
	table, err := g.ReadACL(ctx, sw)
	if err != nil {
		return false
	}
	have := switchdriver.FindACL(table, asked.Profile)
	return asked.Action == switchdriver.ACLCreateProfile && have != nil ||
		asked.Action == switchdriver.ACLSetRule && switchdriver.FindACLRule(have, asked.Rule.GetRuleId()) != nil
}

// vlanOf reads one VLAN; nil when it is not there.
func vlanOf(ctx context.Context, r switchdriver.VLANReader, sw *switchdriver.Switch, id uint32) (*switchdriver.VLAN, error) {
	all, err := r.ReadVLANs(ctx, sw)
	if i := slices.IndexFunc(all, func(v *switchdriver.VLAN) bool { return v.VlanId == id }); i >= 0 {
		return all[i], err
	}
	return nil, err
}

// vlanDiffers says how a VLAN is not what was asked for; empty if it is.
func vlanDiffers(op *writes.Operation, now *switchdriver.VLAN) string {
	v := op.VLAN
	switch {
	case op.Name == "DeleteVlan" && now != nil && !now.Dynamic:
		return fmt.Sprintf("VLAN %d still", v.VlanId)
	case op.Name == "DeleteVlan":
		return ""
	case now == nil:
		return fmt.Sprintf("no VLAN %d", v.VlanId)
	case !op.SetPorts:
		return ""
	}
	return portsDiffer(v, now)
}

func portsDiffer(want, now *switchdriver.VLAN) string {
	egress := slices.Concat(want.EgressPorts, want.UntaggedPorts)
	slices.Sort(egress)
	untagged := slices.Sorted(slices.Values(want.UntaggedPorts))
	if e := slices.Sorted(slices.Values(now.EgressPorts)); !slices.Equal(e, slices.Compact(egress)) {
		return fmt.Sprintf("VLAN %d with ports %v", want.VlanId, e)
	}
	if u := slices.Sorted(slices.Values(now.UntaggedPorts)); !slices.Equal(u, untagged) {
		return fmt.Sprintf("VLAN %d with untagged ports %v", want.VlanId, u)
	}
	return ""
}
