package operations

import (
	"context"
	"slices"

	"ctl.internal/internal/bier"
)

type querySubDomainNodeOut struct {
	Nodes []bier.Node `json:"subdomain-node,omitempty"`
}

// querySubDomainNode answers members that the network has now.
func (h *Handlers) querySubDomainNode(_ context.Context, in target) (*querySubDomainNodeOut, error) {
	t, err := h.subDomain(in)
	if err != nil {
		return nil, err
	}
	out := &querySubDomainNodeOut{}
	now, _ := h.Data.Observed.Get(h.Data.Store.Now(), in.Topology)
	for i := range t.Nodes {
		if _, s := t.Nodes[i].Member(*in.Domain, *in.SubDomain); s != nil && slices.Contains(now.Nodes, t.Nodes[i].ID) {
			out.Nodes = append(out.Nodes, t.Nodes[i])
		}
	}
	return out, nil
}
