package operations

import (
	"context"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

type delFDBEntryOut struct {
	Result string `json:"del-fdb-entry-result"`
}

func (h *Handlers) delFDBEntry(ctx context.Context, in fdbKeyIn) (*delFDBEntryOut, error) {
	var c checker
	vlan, mac := c.vlan(in.VLAN), c.mac("dest-mac-addr", in.MAC)
	sw, err := c.node(h.Inventory, in.NodeID)
	if err != nil {
		return nil, err
	}
	err = h.change(ctx, sw, writes.Operation{Name: "DeleteFdbEntry", What: "removing the forwarding entry of " + mac.String(),
		FDB: &switchdriver.FDBEntry{VlanId: vlan, Mac: uint64(mac)}})
	if err != nil {
		return nil, err
	}
	return &delFDBEntryOut{success}, nil
}

func noEntry(sw *switchdriver.Switch, vlan uint32, mac mib.MAC) error {
	return fault.New(fault.NotFound, "switch %s has no entry for %s in VLAN %d", mibdriver.Name(sw), mac, vlan)
}
