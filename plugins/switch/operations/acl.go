package operations

import (
	"context"
	"net/netip"

	"ctl.internal/internal/switchcli"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// The values of acl-layer and acl-action.
const (
	layerEthernet = "ETHERNET"
	layerIP       = "IP"
	permit        = "PERMIT"
	deny          = "DENY"
)

// aclNodeIn names the switch as module acl does.
type aclNodeIn struct {
	NodeID *int64 `json:"nodeId"`
}

// profileIn is grouping profile-index.
type profileIn struct {
	ID   *int32  `json:"profile-id"`
	Name *string `json:"profile-name"`
}

// applyACL hands an action to the driver of the switch.
func (h *Handlers) applyACL(ctx context.Context, c *checker, node *int64, action switchdriver.ACLAction, p *switchdriver.ACLProfile, r *switchdriver.ACLRule) error {
	sw, err := c.nodeAt("nodeId", h.Inventory, node)
	if err != nil {
		return err
	}
	return h.change(ctx, sw, writes.Operation{Name: "ApplyAcl", What: "access lists: " + action.String(),
		ACL: &pluginv1.ApplyAclRequest{Action: action, Profile: p, Rule: r}})
}

// profile reads what names a profile; both says that id and name are needed.
func (c *checker) profile(in profileIn, both bool) *switchdriver.ACLProfile {
	p := &switchdriver.ACLProfile{ProfileId: c.index("profile-id", in.ID), ProfileName: c.word("profile-name", in.Name)}
	switch {
	case both && in.ID == nil:
		c.missing("profile-id")
	case both && in.Name == nil:
		c.missing("profile-name")
	case in.ID == nil && in.Name == nil:
		c.faults = append(c.faults, fault.At(fault.Missing, "profile-id", "profile-id or profile-name is needed"))
	}
	return p
}

func (c *checker) index(leaf string, v *int32) uint32 {
	if v == nil {
		return 0
	}
	if *v < 1 || *v > 65535 {
		c.invalid(leaf, "%d is not 1 to 65535", *v)
		return 0
	}
	return uint32(*v)
}

// maxACLName is the length of names in the module.
const maxACLName = 32

// word reads a name that a command line must take as one word.
func (c *checker) word(leaf string, v *string) string {
	if v == nil {
		return ""
	}
	if len(*v) > maxACLName {
		c.invalid(leaf, "the name has more than %d characters", maxACLName)
		return ""
	}
	if _, err := switchcli.Word(leaf, *v); err != nil {
		c.faults = append(c.faults, fault.All(err)...)
		return ""
	}
	return *v
}

// oneOf reads an enumeration.
func (c *checker) oneOf(leaf string, v *string, values ...string) string {
	if v == nil {
		c.missing(leaf)
		return ""
	}
	for _, known := range values {
		if *v == known {
			return known
		}
	}
	c.invalid(leaf, "%.20q is none of %v", *v, values)
	return ""
}

// address reads an IPv4 address or mask; nil is none.
func (c *checker) address(leaf string, v *string) string {
	if v == nil {
		return ""
	}
	a, err := netip.ParseAddr(*v)
	if err != nil || !a.Is4() {
		c.invalid(leaf, "%.40q is no IPv4 address", *v)
		return ""
	}
	return a.String()
}

// fields checks which fields a layer compares.
func (c *checker) fields(layer, vlanLeaf string, vlan bool, others map[string]string) {
	some := vlan
	for leaf, v := range others {
		if some = some || v != ""; v != "" && layer == layerEthernet {
			c.invalid(leaf, "a profile of layer %s compares the VLAN only", layer)
		}
	}
	switch {
	case layer == layerEthernet && !vlan:
		c.faults = append(c.faults, fault.At(fault.Missing, vlanLeaf, "layer %s needs %s", layer, vlanLeaf))
	case layer == layerIP && !some:
		c.faults = append(c.faults, fault.At(fault.Missing, vlanLeaf, "layer %s needs the VLAN, the source or the destination, at least one of them", layer))
	}
}

type createACLProfileIn struct {
	aclNodeIn
	profileIn
	Layer    *string `json:"acl-layer"`
	VLANMask *int32  `json:"vlan-mask"`
	SrcMask  *string `json:"src-ip-mask"`
	DstMask  *string `json:"dst-ip-mask"`
}

type createACLProfileOut struct {
	Result string `json:"create-acl-profile-result"`
}

func (h *Handlers) createACLProfile(ctx context.Context, in createACLProfileIn) (*createACLProfileOut, error) {
	var c checker
	p := c.profile(in.profileIn, true)
	p.Layer = c.oneOf("acl-layer", in.Layer, layerEthernet, layerIP)
	if in.VLANMask != nil {
		if *in.VLANMask < 0 || *in.VLANMask > 0xfff {
			c.invalid("vlan-mask", "%d is not 0 to 4095", *in.VLANMask)
		}
		mask := uint32(*in.VLANMask)
		p.VlanMask = &mask
	}
	p.SrcIpMask, p.DstIpMask = c.address("src-ip-mask", in.SrcMask), c.address("dst-ip-mask", in.DstMask)
	c.fields(p.Layer, "vlan-mask", in.VLANMask != nil, map[string]string{"src-ip-mask": p.SrcIpMask, "dst-ip-mask": p.DstIpMask})
	if err := h.applyACL(ctx, &c, in.NodeID, pluginv1.ApplyAclRequest_ACTION_CREATE_PROFILE, p, nil); err != nil {
		return nil, err
	}
	return &createACLProfileOut{success}, nil
}

type delACLProfileIn struct {
	aclNodeIn
	profileIn
}

type delACLProfileOut struct {
	Result string `json:"del-acl-profile-result"`
}

func (h *Handlers) delACLProfile(ctx context.Context, in delACLProfileIn) (*delACLProfileOut, error) {
	var c checker
	p := c.profile(in.profileIn, false)
	if err := h.applyACL(ctx, &c, in.NodeID, pluginv1.ApplyAclRequest_ACTION_DELETE_PROFILE, p, nil); err != nil {
		return nil, err
	}
	return &delACLProfileOut{success}, nil
}

type clearACLTableOut struct {
	Result string `json:"clear-acl-table-result"`
}

func (h *Handlers) clearACLTable(ctx context.Context, in aclNodeIn) (*clearACLTableOut, error) {
	var c checker
	if err := h.applyACL(ctx, &c, in.NodeID, pluginv1.ApplyAclRequest_ACTION_CLEAR, nil, nil); err != nil {
		return nil, err
	}
	return &clearACLTableOut{success}, nil
}
