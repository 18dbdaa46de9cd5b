package operations

import (
	"context"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
)

type configureNodeIn struct {
	Topology string            `json:"topology-id"`
	Node     string            `json:"node-id"`
	Domains  []bier.NodeDomain `json:"domain"`
}

func (h *Handlers) configureNode(ctx context.Context, in configureNodeIn) (bier.ConfigureOutput, error) {
	return h.configured(ctx, "configure-node", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.ConfigureNode(t, in.Node, in.Domains)
	})
}
