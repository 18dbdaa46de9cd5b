package operations

import (
	"context"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/fault"
)

type queryNodeIn struct {
	Topology string   `json:"topology-id"`
	Nodes    []string `json:"node"`
}

type queryNodeOut struct {
	Nodes []bier.Node `json:"node,omitempty"`
}

func (h *Handlers) queryNode(_ context.Context, in queryNodeIn) (*queryNodeOut, error) {
	t, err := h.view(in.Topology)
	if err != nil {
		return nil, err
	}
	if len(in.Nodes) == 0 {
		return nil, fault.At(fault.Missing, "/bier-topology-api:input/node", "node is missing: a list of node-ids")
	}
	out := &queryNodeOut{}
	for _, id := range in.Nodes {
		if n := t.Node(id); n != nil {
			out.Nodes = append(out.Nodes, *n)
		}
	}
	return out, nil
}
