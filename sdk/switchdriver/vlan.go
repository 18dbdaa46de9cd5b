package switchdriver

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// VLANReader reads the VLANs of a switch (dot1qVlanStaticTable, dot1qVlanCurrentTable).
type VLANReader interface {
	ReadVLANs(ctx context.Context, sw *Switch) ([]*VLAN, error)
}

// VLANWriter makes, changes and removes VLANs. WriteVLAN answers the VLAN as read
// back. With create it fails with fault.Exists if the VLAN is there, without it
// with fault.NotFound if it is not. Without setPorts the ports stay as they are; with
// it the VLAN has these ports and no others. A port is untagged in one VLAN: it
// leaves the one it was in; one that is left without any goes back to VLAN 1.
// DeleteVLAN fails with fault.Invalid for VLAN 1.
type VLANWriter interface {
	WriteVLAN(ctx context.Context, sw *Switch, v *VLAN, create, setPorts bool) (*VLAN, error)
	DeleteVLAN(ctx context.Context, sw *Switch, vlanID uint32) error
}

func vlanOperations() []operation {
	return []operation{
		newReadOperation(func(ctx context.Context, d VLANReader, r *pluginv1.ReadVlansRequest) (*pluginv1.ReadVlansResponse, error) {
			v, err := d.ReadVLANs(ctx, r.Switch)
			return &pluginv1.ReadVlansResponse{Vlans: v}, err
		}, validVLANs),
		newWriteOperation(func(ctx context.Context, d VLANWriter, r *pluginv1.WriteVlanRequest) (*pluginv1.WriteVlanResponse, error) {
			v, err := d.WriteVLAN(ctx, r.Switch, r.Vlan, r.Create, r.SetPorts)
			return &pluginv1.WriteVlanResponse{Vlan: v}, err
		}, "ReadVlans", func(ctx context.Context, d VLANReader, r *pluginv1.WriteVlanRequest) (string, error) {
			all, err := d.ReadVLANs(ctx, r.Switch)
			now := vlanOf(all, r.GetVlan().GetVlanId())
			switch {
			case err != nil:
				return "", err
			case now == nil:
				return fmt.Sprintf("no VLAN %d", r.GetVlan().GetVlanId()), nil
			case !r.SetPorts:
				return "", nil
			}
			return cmp.Or(PortsDiffer(r.Vlan, now), stillUntagged(r.Vlan, all)), nil
		}),
		newWriteOperation(func(ctx context.Context, d VLANWriter, r *pluginv1.DeleteVlanRequest) (*pluginv1.DeleteVlanResponse, error) {
			return &pluginv1.DeleteVlanResponse{}, d.DeleteVLAN(ctx, r.Switch, r.VlanId)
		}, "ReadVlans", func(ctx context.Context, d VLANReader, r *pluginv1.DeleteVlanRequest) (string, error) {
			now, err := FindVLAN(ctx, d, r.Switch, r.VlanId)
			if now != nil && !now.Dynamic {
				return fmt.Sprintf("VLAN %d still", r.VlanId), err
			}
			return "", err
		}),
	}
}

// ReadVLANs implements VLANReader; the ports are in order.
func (c *Client) ReadVLANs(ctx context.Context, sw *Switch) ([]*VLAN, error) {
	r, err := c.rpc.ReadVlans(ctx, &pluginv1.ReadVlansRequest{Switch: sw})
	for _, v := range r.GetVlans() {
		v.EgressPorts, v.UntaggedPorts = sortedPorts(v.EgressPorts), sortedPorts(v.UntaggedPorts)
	}
	return r.GetVlans(), fault.FromStatus(err)
}

// WriteVLAN implements VLANWriter.
func (c *Client) WriteVLAN(
	ctx context.Context,
	sw *Switch,
	v *VLAN,
	create, setPorts bool,
) (*VLAN, error) {
	r, err := c.rpc.WriteVlan(
		ctx,
		&pluginv1.WriteVlanRequest{
			Switch:   sw,
			Vlan:     v,
			Create:   create,
			SetPorts: setPorts,
		},
	)
	return r.GetVlan(), fault.FromStatus(err)
}

// DeleteVLAN implements VLANWriter.
func (c *Client) DeleteVLAN(ctx context.Context, sw *Switch, vlanID uint32) error {
	_, err := c.rpc.DeleteVlan(ctx, &pluginv1.DeleteVlanRequest{
		Switch: sw,
		VlanId: vlanID,
	})
	return fault.FromStatus(err)
}

// MaxVLANName is the longest name of a VLAN in octets (dot1qVlanStaticName, RFC 4363).
const MaxVLANName = 32

// MaxVLANID is the highest id of a VLAN (IEEE 802.1Q; 4095 is reserved).
const MaxVLANID = 4094

// CheckVLANID refuses, with fault.Invalid, what is not a VLAN id, 1 to MaxVLANID.
func CheckVLANID(id uint32) error {
	if id < 1 || id > MaxVLANID {
		return fault.At(fault.Invalid, "vlan-id", "%d is not a VLAN id, 1 to %d", id, MaxVLANID)
	}
	return nil
}

// CheckVLAN refuses a VLAN that no switch can have: a bad id, a name longer than
// MaxVLANName or with other than printable ASCII, a port that has says is not
// there, an untagged port that is not an egress port. has may be nil. All faults
// are reported at once, of kind fault.Invalid (fault.Missing for no VLAN at all).
func CheckVLAN(v *VLAN, has func(port uint32) bool) error {
	if v == nil {
		return fault.At(fault.Missing, "vlan", "the call names no VLAN")
	}
	l := fault.All(CheckVLANID(v.VlanId))
	if len(v.Name) > MaxVLANName || !Printable(v.Name) {
		l = append(
			l,
			fault.At(
				fault.Invalid,
				"vlan-name",
				"%.40q is not a VLAN name of up to %d printable ASCII characters",
				v.Name,
				MaxVLANName,
			),
		)
	}
	for _, p := range v.EgressPorts {
		if has != nil && !has(p) {
			l = append(l, fault.At(fault.Invalid, "egress-ports", "the switch has no port %d", p))
		}
	}
	for _, p := range v.UntaggedPorts {
		if !slices.Contains(v.EgressPorts, p) {
			l = append(
				l,
				fault.At(
					fault.Invalid,
					"untagged-ports",
					"port %d is untagged but no egress port of the VLAN",
					p,
				),
			)
		}
	}
	return l.Err()
}

func validVLANs(_ *pluginv1.ReadVlansRequest, a *pluginv1.ReadVlansResponse) error {
	seen := map[uint32]bool{}
	for _, v := range a.Vlans {
		switch {
		case seen[v.VlanId]:
			return fmt.Errorf("VLAN %d twice", v.VlanId)
		case CheckVLANID(v.VlanId) != nil:
			return fmt.Errorf("VLAN %d", v.VlanId)
		}
		seen[v.VlanId] = true
		for _, p := range v.EgressPorts {
			if !validPort(p) {
				return fmt.Errorf("port %d in VLAN %d", p, v.VlanId)
			}
		}
		for _, p := range v.UntaggedPorts {
			if !slices.Contains(v.EgressPorts, p) {
				return fmt.Errorf("port %d untagged in VLAN %d and not in it", p, v.VlanId)
			}
		}
	}
	return nil
}

// FindVLAN reads one VLAN; nil when it is not there.
func FindVLAN(ctx context.Context, d VLANReader, sw *Switch, id uint32) (*VLAN, error) {
	all, err := d.ReadVLANs(ctx, sw)
	return vlanOf(all, id), err
}

// vlanOf finds a VLAN; nil when it is not there.
func vlanOf(all []*VLAN, id uint32) *VLAN {
	if i := slices.IndexFunc(all, func(v *VLAN) bool { return v.VlanId == id }); i >= 0 {
		return all[i]
	}
	return nil
}

// stillUntagged finds untagged ports of a VLAN that did not leave the VLAN in which they were untagged before: frames
// of that one would still leave there.
func stillUntagged(want *VLAN, all []*VLAN) string {
	for _, v := range all {
		both := slices.DeleteFunc(sortedPorts(v.UntaggedPorts), func(p uint32) bool {
			return !slices.Contains(want.UntaggedPorts, p)
		})
		if v.VlanId != want.VlanId && len(both) > 0 {
			return fmt.Sprintf("VLAN %d still with untagged ports %v", v.VlanId, both)
		}
	}
	return ""
}

// PortsDiffer says, in words that follow "it shows", how the ports of a VLAN are not those of another; empty if they are.
func PortsDiffer(want, now *VLAN) string {
	e := sortedPorts(now.EgressPorts)
	if !slices.Equal(e, sortedPorts(slices.Concat(want.EgressPorts, want.UntaggedPorts))) {
		return fmt.Sprintf("VLAN %d with ports %v", want.VlanId, e)
	}
	if u := sortedPorts(now.UntaggedPorts); !slices.Equal(u, sortedPorts(want.UntaggedPorts)) {
		return fmt.Sprintf("VLAN %d with untagged ports %v", want.VlanId, u)
	}
	return ""
}

// sortedPorts is a list of ports in order, each once.
func sortedPorts(ports []uint32) []uint32 {
	return slices.Compact(slices.Sorted(slices.Values(ports)))
}
