package operations

import (
	"context"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
)

type configureSubDomainIn struct {
	Topology   string   `json:"topology-id"`
	Domain     *uint16  `json:"domain-id"`
	SubDomains []uint16 `json:"sub-domain"`
}

func (h *Handlers) configureSubDomain(ctx context.Context, in configureSubDomainIn) (bier.ConfigureOutput, error) {
	return h.configured(ctx, "configure-subdomain", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.ConfigureSubDomain(t, in.Domain, in.SubDomains)
	})
}
