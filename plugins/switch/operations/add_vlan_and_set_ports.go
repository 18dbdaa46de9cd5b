package operations

import "context"

type addVLANAndSetPortsIn struct {
	vlanIn
	membersIn
	Name *string `json:"vlan-name"`
}

type addVLANAndSetPortsOut struct {
	Result string `json:"add-vlan-and-set-ports-result"`
}

func (h *Handlers) addVLANAndSetPorts(ctx context.Context, in addVLANAndSetPortsIn) (*addVLANAndSetPortsOut, error) {
	var c checker
	id, name := c.vlan(in.VLAN), c.name(in.Name)
	egress, untagged := c.members(in.Tagged, in.Untagged)
	sw, err := c.node(h.Inventory, in.NodeID)
	if err != nil {
		return nil, err
	}
	if err := h.writeVLAN(ctx, sw, vlanOf(id, name, egress, untagged), true, true); err != nil {
		return nil, err
	}
	return &addVLANAndSetPortsOut{success}, nil
}
