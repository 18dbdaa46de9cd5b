package operations

import (
	"context"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/sdk/switchdriver"
)

// vlanEntry is an entry of list vlan-table-entry.
type vlanEntry struct {
	VLAN  int32   `json:"vlan-id"`
	Name  string  `json:"vlan-name"`
	Ports []int32 `json:"port-list"` // tagged and untagged
}

type getVLANTableIn struct {
	NodeID *int64 `json:"node-id"`
}

type getVLANTableOut struct {
	Entries []vlanEntry `json:"vlan-table-entry"`
}

func (h *Handlers) getVLANTable(ctx context.Context, in getVLANTableIn) (*getVLANTableOut, error) {
	var c checker
	sw, err := c.node(h.Inventory, in.NodeID)
	if err != nil {
		return nil, err
	}
	d, sw, err := driver.For[switchdriver.VLANReader](ctx, h.Drivers, sw, "ReadVlans")
	if err != nil {
		return nil, err
	}
	vlans, err := d.ReadVLANs(ctx, sw)
	if err != nil {
		return nil, err
	}
	out := &getVLANTableOut{Entries: make([]vlanEntry, 0, len(vlans))}
	for _, v := range vlans {
		e := vlanEntry{VLAN: int32(v.VlanId), Name: v.Name, Ports: make([]int32, 0, len(v.EgressPorts))}
		for _, p := range v.EgressPorts {
			e.Ports = append(e.Ports, int32(p))
		}
		out.Entries = append(out.Entries, e)
	}
	return out, nil
}
