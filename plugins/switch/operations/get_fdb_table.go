package operations

import (
	"context"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/sdk/switchdriver"
)

// fdbEntry is grouping fdb-entry of module fdb.
type fdbEntry struct {
	NodeID int64  `json:"node-id"`
	VLAN   int32  `json:"vlan-id"`
	MAC    int64  `json:"dest-mac-addr"`
	Port   int32  `json:"port"`
	Type   string `json:"type"`
}

// fdbTypes are the values of dot1qTpFdbStatus.
var fdbTypes = map[int32]string{1: "OTHER", 2: "INVALID", 3: "LEARNED", 4: "SELF", 5: "MGMT"}

func entryOf(sw *switchdriver.Switch, e *switchdriver.FDBEntry) fdbEntry {
	name, ok := fdbTypes[e.Type]
	if !ok {
		name = fdbTypes[1]
	}
	return fdbEntry{int64(sw.NodeId), int32(e.VlanId), int64(e.Mac), int32(e.Port), name}
}

type getFDBTableIn struct {
	NodeID *int64 `json:"node-id"`
}

type getFDBTableOut struct {
	Entries []fdbEntry `json:"fdb-table-entry"`
}

func (h *Handlers) getFDBTable(ctx context.Context, in getFDBTableIn) (*getFDBTableOut, error) {
	var c checker
	sw, err := c.node(h.Inventory, in.NodeID)
	if err != nil {
		return nil, err
	}
	d, sw, err := driver.For[switchdriver.FDBReader](ctx, h.Drivers, sw, "ReadFdb")
	if err != nil {
		return nil, err
	}
	entries, err := d.ReadFDB(ctx, sw, 0, 0)
	if err != nil {
		return nil, err
	}
	out := &getFDBTableOut{Entries: make([]fdbEntry, 0, len(entries))}
	for _, e := range entries {
		out.Entries = append(out.Entries, entryOf(sw, e))
	}
	return out, nil
}
