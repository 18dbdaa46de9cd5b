package operations

import "context"

type domainRef struct {
	ID uint16 `json:"domain-id"`
}

type queryDomainOut struct {
	Domains []domainRef `json:"domain,omitempty"`
}

func (h *Handlers) queryDomain(_ context.Context, in target) (*queryDomainOut, error) {
	t, err := h.view(in.Topology)
	if err != nil {
		return nil, err
	}
	out := &queryDomainOut{}
	for _, d := range t.Domains {
		out.Domains = append(out.Domains, domainRef{d.ID})
	}
	return out, nil
}
