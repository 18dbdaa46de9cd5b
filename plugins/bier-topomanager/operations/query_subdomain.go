package operations

import (
	"context"

	"ctl.internal/internal/bier"
)

type querySubDomainOut struct {
	SubDomains []bier.SubDomainRef `json:"subdomain,omitempty"`
}

func (h *Handlers) querySubDomain(_ context.Context, in target) (*querySubDomainOut, error) {
	_, d, err := h.domain(in)
	if err != nil {
		return nil, err
	}
	return &querySubDomainOut{d.SubDomains}, nil
}
