package driver

import (
	"context"
	"fmt"
	"slices"

	"ctl.internal/plugins/switch/writes"
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
func (g *guard) ReadVLANs(ctx context.Context, sw *switchdriver.Switch) ([]*switchdriver.VLAN, error) {
	vlans, err := call(ctx, g, sw, func(ctx context.Context) ([]*switchdriver.VLAN, error) { return g.client.ReadVLANs(ctx, sw) })
	if err != nil {
		return nil, err
	}
	if len(vlans) > maxVLANs {
		return nil, g.lies(sw, "%d VLANs", len(vlans))
	}
	seen := map[uint32]bool{}
	for _, v := range vlans {
		if v == nil || seen[v.VlanId] {
			return nil, g.lies(sw, "a VLAN twice, or none")
		}
		seen[v.VlanId] = true
		if err := g.checkVLAN(sw, v); err != nil {
			return nil, err
		}
	}
	return vlans, nil
}

func (g *guard) checkVLAN(sw *switchdriver.Switch, v *switchdriver.VLAN) error {
	if v.VlanId < 1 || v.VlanId > maxVLANs {
		return g.lies(sw, "VLAN %d", v.VlanId)
	}
	v.Name = clean(v.Name, maxName)
	for _, list := range [][]uint32{v.EgressPorts, v.UntaggedPorts} {
		for _, p := range list {
			if p < 1 || p > maxPorts {
				return g.lies(sw, "port %d in VLAN %d", p, v.VlanId)
			}
		}
		slices.Sort(list)
	}
	v.EgressPorts, v.UntaggedPorts = slices.Compact(v.EgressPorts), slices.Compact(v.UntaggedPorts)
	for _, p := range v.UntaggedPorts {
		if !slices.Contains(v.EgressPorts, p) {
			return g.lies(sw, "port %d untagged in VLAN %d and not in it", p, v.VlanId)
		}
	}
	return nil
}

// WriteVLAN implements the operation.
func (g *guard) WriteVLAN(ctx context.Context, sw *switchdriver.Switch, v *switchdriver.VLAN, create, setPorts bool) (out *switchdriver.VLAN, err error) {
	op := &writes.Operation{Name: "WriteVlan", VLAN: v, Create: create, SetPorts: setPorts}
	var before *switchdriver.VLAN
	if r, err := reading[switchdriver.VLANReader](g, "ReadVlans"); err == nil {
		if before, err = vlanOf(ctx, r, sw, v.VlanId); err != nil {
			return nil, err
		}
	}
	err = g.noted(ctx, before, func() error {
		got, err := call(ctx, g, sw, func(ctx context.Context) (*switchdriver.VLAN, error) {
			return g.client.WriteVLAN(ctx, sw, v, create, setPorts)
		})
		if err != nil {
			return err
		}
		out = v
		if got != nil {
			if err := g.checkVLAN(sw, got); err != nil {
				return err
			}
			out = got
		}
		return g.confirm(ctx, sw, func(ctx context.Context) (string, error) {
			r, err := reading[switchdriver.VLANReader](g, "ReadVlans")
			if err != nil {
				return "", err
			}
			now, err := vlanOf(ctx, r, sw, v.VlanId)
			if err == nil && now != nil {
				out = now
			}
			return vlanDiffers(op, now), err
		})
	})
	return out, err
}

// vlanOf reads one VLAN; nil when it is not there.
func vlanOf(ctx context.Context, r switchdriver.VLANReader, sw *switchdriver.Switch, id uint32) (*switchdriver.VLAN, error) {
	all, err := r.ReadVLANs(ctx, sw)
	if i := slices.IndexFunc(all, func(v *switchdriver.VLAN) bool { return v.VlanId == id }); i >= 0 {
		return all[i], err
	}
	return nil, err
}

// vlanDiffers tells how a VLAN is not what was asked for; empty if it is.
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

// DeleteVLAN implements the operation.
func (g *guard) DeleteVLAN(ctx context.Context, sw *switchdriver.Switch, vlanID uint32) error {
	op := &writes.Operation{Name: "DeleteVlan", VLAN: &switchdriver.VLAN{VlanId: vlanID}}
	var before *switchdriver.VLAN
	r, unread := reading[switchdriver.VLANReader](g, "ReadVlans")
	if unread == nil {
		var err error
		if before, err = vlanOf(ctx, r, sw, vlanID); err != nil {
			return err
		}
	}
	return g.noted(ctx, before, func() error {
		if _, err := call(ctx, g, sw, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, g.client.DeleteVLAN(ctx, sw, vlanID)
		}); err != nil {
			return err
		}
		return g.confirm(ctx, sw, func(ctx context.Context) (string, error) {
			if unread != nil {
				return "", unread
			}
			now, err := vlanOf(ctx, r, sw, vlanID)
			return vlanDiffers(op, now), err
		})
	})
}
