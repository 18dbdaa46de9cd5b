package operations

import (
	"context"

	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/operations"
)

type topologyRef struct {
	ID string `json:"topology-id"`
}

type loadTopologyOut struct {
	Topologies []topologyRef `json:"topology,omitempty"`
}

func (h *Handlers) loadTopology(context.Context, operations.None) (out loadTopologyOut, err error) {
	err = h.Store.Look(func(m *model.Model) error {
		for _, id := range m.IDs() {
			out.Topologies = append(out.Topologies, topologyRef{id})
		}
		return nil
	})
	return out, err
}
