package operations

import (
	"context"
	"fmt"

	"ctl.internal/plugins/switch/writes"
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
	err = h.change(ctx, sw, writes.Operation{Name: "DeleteVlan", What: fmt.Sprintf("removing VLAN %d", id), VLAN: &switchdriver.VLAN{VlanId: id}})
	if err != nil {
		return nil, err
	}
	return &deleteVLANOut{success}, nil
}
