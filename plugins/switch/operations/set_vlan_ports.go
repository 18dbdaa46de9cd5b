package operations

import "context"

type setVLANPortsIn struct {
	vlanIn
	membersIn
}

type setVLANPortsOut struct {
	Result string `json:"set-vlan-ports-result"`
}

func (h *Handlers) setVLANPorts(ctx context.Context, in setVLANPortsIn) (*setVLANPortsOut, error) {
	var c checker
	id := c.vlan(in.VLAN)
	egress, untagged := c.members(in.Tagged, in.Untagged)
	sw, err := c.node(h.Inventory, in.NodeID)
	if err != nil {
		return nil, err
	}
	if err := h.writeVLAN(ctx, sw, vlanOf(id, "", egress, untagged), false, true); err != nil {
		return nil, err
	}
	return &setVLANPortsOut{success}, nil
}
