package operations

import (
	"context"

	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/bier"
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
	err = h.Store.Look(func(m *model.Model) error {
		now, err := m.Get(in.Topology)
		if err != nil {
			return err
		}
		for i := range t.Nodes {
			if _, s := t.Nodes[i].Member(*in.Domain, *in.SubDomain); s != nil && now.Online[t.Nodes[i].ID] {
				out.Nodes = append(out.Nodes, t.Nodes[i])
			}
		}
		return nil
	})
	return out, err
}
