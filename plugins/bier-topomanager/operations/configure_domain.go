package operations

import (
	"context"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
)

type configureDomainIn struct {
	Topology string   `json:"topology-id"`
	Domains  []uint16 `json:"domain"`
}

func (h *Handlers) configureDomain(ctx context.Context, in configureDomainIn) (bier.ConfigureOutput, error) {
	return h.configured(ctx, "configure-domain", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.ConfigureDomain(t, in.Domains)
	})
}
