package operations

import (
	"context"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/sdk/operations"
)

// nodeEntry is an entry of list node-list-entry.
type nodeEntry struct {
	ID   string         `json:"node-id"`
	Type discovery.Kind `json:"node-type"`
}

type getNodeListOut struct {
	Entries []nodeEntry `json:"node-list-entry"`
}

// getNodeList lists the switches; devices outside the list show as ends of edges only.
func (h *Handlers) getNodeList(ctx context.Context, _ operations.None) (*getNodeListOut, error) {
	n, err := h.Survey.Await(ctx)
	if err != nil {
		return nil, err
	}
	out := &getNodeListOut{Entries: []nodeEntry{}}
	for _, node := range n.Nodes {
		if node.Kind == discovery.SNMP {
			out.Entries = append(out.Entries, nodeEntry{node.ID, node.Kind})
		}
	}
	return out, nil
}
