package operations

import (
	"context"

	"ctl.internal/internal/bier"
)

type querySubDomainLinkOut struct {
	Links []bier.Link `json:"subdomain-link,omitempty"`
}

// querySubDomainLink answers links of which both ends are members.
func (h *Handlers) querySubDomainLink(_ context.Context, in target) (*querySubDomainLinkOut, error) {
	t, err := h.subDomain(in)
	if err != nil {
		return nil, err
	}
	member := func(node string) bool {
		_, s := t.Node(node).Member(*in.Domain, *in.SubDomain)
		return s != nil
	}
	out := &querySubDomainLinkOut{}
	for _, l := range t.Links {
		if member(l.Source.Node) && member(l.Dest.Node) {
			out.Links = append(out.Links, l)
		}
	}
	return out, nil
}
