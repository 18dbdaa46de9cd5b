package operations

import (
	"context"

	"ctl.internal/sdk/switchdriver"
)

type deleteVLANOut struct {
	Result string `json:"delete-vlan-result"`
}

func (h *Handlers) deleteVLAN(ctx context.Context, in vlanIn) (*deleteVLANOut, error) {
	var c checker
	id := c.vlan(in.VLAN)
	sw, err := c.node(h.Inventory, in.NodeID)
	if err != nil {
		return nil, err
	}
	err = change(ctx, h, sw, "DeleteVlan", func(ctx context.Context, sw *switchdriver.Switch, d switchdriver.VLANWriter) error {
		return d.DeleteVLAN(ctx, sw, id)
	})
	if err != nil {
		return nil, err
	}
	return &deleteVLANOut{success}, nil
}
