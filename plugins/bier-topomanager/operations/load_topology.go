package operations

import (
	"context"

	"ctl.internal/sdk/operations"
)

type topologyRef struct {
	ID string `json:"topology-id"`
}

type loadTopologyOut struct {
	Topologies []topologyRef `json:"topology,omitempty"`
}

func (h *Handlers) loadTopology(context.Context, operations.None) (out loadTopologyOut, err error) {
	for _, id := range h.Data.IDs(h.Data.Store.Now()) {
		out.Topologies = append(out.Topologies, topologyRef{id})
	}
	return out, nil
}
