package operations

import (
	"context"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/fault"
)

type queryLinkIn struct {
	Topology string   `json:"topology-id"`
	Links    []string `json:"link"`
}

type queryLinkOut struct {
	Links []bier.Link `json:"link,omitempty"`
}

func (h *Handlers) queryLink(_ context.Context, in queryLinkIn) (*queryLinkOut, error) {
	t, err := h.view(in.Topology)
	if err != nil {
		return nil, err
	}
	if len(in.Links) == 0 {
		return nil, fault.At(fault.Missing, "/bier-topology-api:input/link", "link is missing: a list of link-ids")
	}
	out := &queryLinkOut{}
	for i := range t.Links {
		if slices.Contains(in.Links, t.Links[i].ID) {
			out.Links = append(out.Links, t.Links[i])
		}
	}
	return out, nil
}
