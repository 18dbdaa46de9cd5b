package operations

import (
	"context"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/sdk/operations"
)

// portEntry is an entry of list node-connector-list-entry.
type portEntry struct {
	ID       string         `json:"node-connector-id"`
	Type     discovery.Kind `json:"node-connector-type"`
	NodeID   string         `json:"node-id"`
	NodeType discovery.Kind `json:"node-type"`
}

type getNodeConnectorListOut struct {
	Entries []portEntry `json:"node-connector-list-entry"`
}

func (h *Handlers) getNodeConnectorList(ctx context.Context, _ operations.None) (*getNodeConnectorListOut, error) {
	n, err := h.Survey.Await(ctx)
	if err != nil {
		return nil, err
	}
	out := &getNodeConnectorListOut{Entries: []portEntry{}}
	for _, node := range n.Nodes {
		for _, p := range node.Ports {
			out.Entries = append(out.Entries, portEntry{p.ID, node.Kind, node.ID, node.Kind})
		}
	}
	return out, nil
}
