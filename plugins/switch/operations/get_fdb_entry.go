package operations

import (
	"context"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/sdk/switchdriver"
)

// fdbKeyIn names an entry: the input of get-fdb-entry and del-fdb-entry.
type fdbKeyIn struct {
	NodeID *int64 `json:"node-id"`
	VLAN   *int32 `json:"vlan-id"`
	MAC    *int64 `json:"dest-mac-addr"`
}

func (h *Handlers) getFDBEntry(ctx context.Context, in fdbKeyIn) (*fdbEntry, error) {
	var c checker
	vlan, mac := c.vlan(in.VLAN), c.mac("dest-mac-addr", in.MAC)
	sw, err := c.node(h.Inventory, in.NodeID)
	if err != nil {
		return nil, err
	}
	d, sw, err := driver.For[switchdriver.FDBReader](ctx, h.Drivers, sw, "ReadFdb")
	if err != nil {
		return nil, err
	}
	entries, err := d.ReadFDB(ctx, sw, vlan, uint64(mac))
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, noEntry(sw, vlan, mac)
	}
	out := entryOf(sw, entries[0])
	return &out, nil
}
