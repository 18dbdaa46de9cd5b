package operations

import "context"

type nodeRef struct {
	ID string `json:"node-id"`
}

type linkRef struct {
	ID string `json:"link-id"`
}

type queryTopologyOut struct {
	ID    string    `json:"topology-id"`
	Nodes []nodeRef `json:"node-id,omitempty"`
	Links []linkRef `json:"link-id,omitempty"`
}

func (h *Handlers) queryTopology(_ context.Context, in target) (*queryTopologyOut, error) {
	t, err := h.view(in.Topology)
	if err != nil {
		return nil, err
	}
	out := &queryTopologyOut{ID: t.ID}
	for i := range t.Nodes {
		out.Nodes = append(out.Nodes, nodeRef{t.Nodes[i].ID})
	}
	for i := range t.Links {
		out.Links = append(out.Links, linkRef{t.Links[i].ID})
	}
	return out, nil
}
