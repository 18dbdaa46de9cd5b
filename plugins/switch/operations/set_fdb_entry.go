package operations

import (
	"context"

	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/switchdriver"
)

// fdbStatic is dot1qTpFdbStatus mgmt(5).
const fdbStatic = 5

type setFDBEntryIn struct {
	fdbKeyIn
	Port *int32  `json:"port"`
	Type *string `json:"type"`
}

type setFDBEntryOut struct {
	Result string `json:"set-fdb-entry-result"`
}

func (h *Handlers) setFDBEntry(ctx context.Context, in setFDBEntryIn) (*setFDBEntryOut, error) {
	var c checker
	vlan, mac, port := c.vlan(in.VLAN), c.station("dest-mac-addr", in.MAC), c.port(in.Port)
	if in.Type != nil && *in.Type != fdbTypes[fdbStatic] {
		c.invalid("type", "only entries of type MGMT can be set, not %.20q", *in.Type)
	}
	sw, err := c.node(h.Inventory, in.NodeID)
	if err != nil {
		return nil, err
	}
	e := &switchdriver.FDBEntry{VlanId: vlan, Mac: uint64(mac), Port: port, Type: fdbStatic}
	err = h.change(ctx, sw, writes.Operation{Name: "WriteFdbEntry", What: "setting the forwarding entry of " + mac.String(), FDB: e})
	if err != nil {
		return nil, err
	}
	return &setFDBEntryOut{success}, nil
}
