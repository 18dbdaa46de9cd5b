package operations

import "context"

type addVLANIn struct {
	vlanIn
	Name *string `json:"vlan-name"`
}

type addVLANOut struct {
	Result string `json:"add-vlan-result"`
}

func (h *Handlers) addVLAN(ctx context.Context, in addVLANIn) (*addVLANOut, error) {
	var c checker
	id, name := c.vlan(in.VLAN), c.name(in.Name)
	sw, err := c.node(h.Inventory, in.NodeID)
	if err != nil {
		return nil, err
	}
	if err := h.writeVLAN(ctx, sw, vlanOf(id, name, nil, nil), true, false); err != nil {
		return nil, err
	}
	return &addVLANOut{success}, nil
}
