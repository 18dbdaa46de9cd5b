package operations

import (
	"context"
	"fmt"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/switchdriver"
)

// vlanIn names a VLAN of a switch.
type vlanIn struct {
	NodeID *int64 `json:"node-id"`
	VLAN   *int32 `json:"vlan-id"`
}

// membersIn are the ports of a VLAN.
type membersIn struct {
	Tagged   *string `json:"tagged-port-list"`
	Untagged *string `json:"untagged-port-list"`
}

// writeVLAN hands a VLAN to the driver of the switch.
func (h *Handlers) writeVLAN(ctx context.Context, sw *switchdriver.Switch, v *switchdriver.VLAN, create, setPorts bool) error {
	what := "setting the ports of VLAN %d"
	if create {
		what = "making VLAN %d"
	}
	return h.change(ctx, sw, writes.Operation{Name: "WriteVlan", What: fmt.Sprintf(what, v.VlanId), VLAN: v, Create: create, SetPorts: setPorts})
}

func vlanOf(id uint32, name string, egress, untagged mib.Ports) *switchdriver.VLAN {
	return &switchdriver.VLAN{VlanId: id, Name: name, EgressPorts: egress.Sorted(), UntaggedPorts: untagged.Sorted()}
}
