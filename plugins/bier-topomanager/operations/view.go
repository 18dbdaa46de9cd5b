package operations

import (
	"context"

	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/fault"
)

// view returns one topology.
func (h *Handlers) view(id string) (*bier.Topology, error) {
	if id == "" {
		return nil, fault.At(fault.Missing, "/bier-topology-api:input/topology-id", "topology-id is missing")
	}
	_, v, err := h.Store.Views(id)
	if err != nil {
		return nil, err
	}
	return &v[0], nil
}

// domain returns the domain of a topology that an input names.
func (h *Handlers) domain(in target) (*bier.Topology, *bier.Domain, error) {
	t, err := h.view(in.Topology)
	if err != nil {
		return nil, nil, err
	}
	if in.Domain == nil {
		return nil, nil, fault.At(fault.Missing, "/bier-topology-api:input/domain-id", "domain-id is missing")
	}
	d := t.Domain(*in.Domain)
	if d == nil {
		return nil, nil, fault.At(fault.NotFound, "/bier-topology-api:input/domain-id", "there is no domain %d in topology %s", *in.Domain, in.Topology)
	}
	return t, d, nil
}

// subDomain returns the topology of a sub-domain that an input names.
func (h *Handlers) subDomain(in target) (*bier.Topology, error) {
	t, d, err := h.domain(in)
	switch {
	case err != nil:
		return nil, err
	case in.SubDomain == nil:
		return nil, fault.At(fault.Missing, "/bier-topology-api:input/sub-domain-id", "sub-domain-id is missing")
	case !d.Has(*in.SubDomain):
		return nil, fault.At(fault.NotFound, "/bier-topology-api:input/sub-domain-id", "there is no sub-domain %d of domain %d", *in.SubDomain, *in.Domain)
	}
	return t, nil
}

type readIn struct {
	Topology string `json:"topology-id"`
	Revision uint64 `json:"revision"`
	Settled  bool   `json:"settled"`
}

// read is for the other BIER plugins.
func (h *Handlers) read(_ context.Context, in readIn) (*bier.TopologyView, error) {
	views := h.Store.Views
	if in.Settled {
		views = h.Store.SettledViews
	}
	revision, v, err := views(in.Topology)
	if err != nil {
		return nil, err
	}
	out := &bier.TopologyView{Revision: revision}
	if in.Revision != revision {
		out.Topologies = &bier.Topologies{List: v}
	}
	return out, nil
}
