package operations

import (
	"context"

	"ctl.internal/plugins/switch/driver"
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
	d, err := driver.For[switchdriver.VLANWriter](h.Drivers, sw)
	if err != nil {
		return nil, err
	}
	if err := d.DeleteVLAN(ctx, sw, id); err != nil {
		return nil, err
	}
	return &deleteVLANOut{success}, nil
}
