package operations

import (
	"context"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// asked is the input of the queries. YANG says which of its members each of them needs.
type asked struct {
	Topology  string   `json:"topology-id"`
	Domain    uint16   `json:"domain-id"`
	SubDomain uint16   `json:"sub-domain-id"`
	Nodes     []string `json:"node"`
	Links     []string `json:"link"`
}

type topologyRef struct {
	ID string `json:"topology-id"`
}

type loadTopologyOut struct {
	Topologies []topologyRef `json:"topology,omitempty"`
}

func (h *Handlers) loadTopology(context.Context, operations.None) (out loadTopologyOut, err error) {
	for _, id := range h.Data.IDs(h.Data.Store.Now()) {
		out.Topologies = append(out.Topologies, topologyRef{id})
	}
	return out, nil
}

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

func (h *Handlers) queryTopology(_ context.Context, in asked) (*queryTopologyOut, error) {
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

type queryNodeOut struct {
	Nodes []bier.Node `json:"node,omitempty"`
}

func (h *Handlers) queryNode(_ context.Context, in asked) (*queryNodeOut, error) {
	t, err := h.view(in.Topology)
	if err != nil {
		return nil, err
	}
	out := &queryNodeOut{}
	for _, id := range in.Nodes {
		if n := t.Node(bier.ShortID(id)); n != nil {
			out.Nodes = append(out.Nodes, *n)
		}
	}
	return out, nil
}

type queryLinkOut struct {
	Links []bier.Link `json:"link,omitempty"`
}

func (h *Handlers) queryLink(_ context.Context, in asked) (*queryLinkOut, error) {
	t, err := h.view(in.Topology)
	if err != nil {
		return nil, err
	}
	for i := range in.Links {
		in.Links[i] = bier.ShortID(in.Links[i])
	}
	return &queryLinkOut{slices.DeleteFunc(slices.Clone(t.Links), func(l bier.Link) bool { return !slices.Contains(in.Links, l.ID) })}, nil
}

type domainRef struct {
	ID uint16 `json:"domain-id"`
}

type queryDomainOut struct {
	Domains []domainRef `json:"domain,omitempty"`
}

func (h *Handlers) queryDomain(_ context.Context, in asked) (*queryDomainOut, error) {
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

type querySubDomainOut struct {
	SubDomains []bier.SubDomainRef `json:"subdomain,omitempty"`
}

func (h *Handlers) querySubDomain(_ context.Context, in asked) (*querySubDomainOut, error) {
	_, d, err := h.domain(in)
	if err != nil {
		return nil, err
	}
	return &querySubDomainOut{d.SubDomains}, nil
}

type querySubDomainNodeOut struct {
	Nodes []bier.Node `json:"subdomain-node,omitempty"`
}

// querySubDomainNode answers members that the network has now.
func (h *Handlers) querySubDomainNode(_ context.Context, in asked) (*querySubDomainNodeOut, error) {
	t, err := h.subDomain(in)
	if err != nil {
		return nil, err
	}
	now, _ := h.Data.Observed.Get(h.Data.Store.Now(), in.Topology)
	return &querySubDomainNodeOut{slices.DeleteFunc(slices.Clone(t.Nodes), func(n bier.Node) bool {
		return !in.member(&n) || !slices.Contains(now.Nodes, n.ID)
	})}, nil
}

type querySubDomainLinkOut struct {
	Links []bier.Link `json:"subdomain-link,omitempty"`
}

// querySubDomainLink answers links of which both ends are members.
func (h *Handlers) querySubDomainLink(_ context.Context, in asked) (*querySubDomainLinkOut, error) {
	t, err := h.subDomain(in)
	if err != nil {
		return nil, err
	}
	return &querySubDomainLinkOut{slices.DeleteFunc(slices.Clone(t.Links), func(l bier.Link) bool {
		return !in.member(t.Node(l.Source.Node)) || !in.member(t.Node(l.Dest.Node))
	})}, nil
}

// member reports whether a node is in the sub-domain asked for.
func (in asked) member(n *bier.Node) bool {
	_, s := n.Member(in.Domain, in.SubDomain)
	return s != nil
}

// view returns one topology, which the caller may change.
func (h *Handlers) view(id string) (*bier.Topology, error) {
	t := h.Data.Topology(h.Data.Store.Now(), id)
	return t, model.Found(t, id)
}

// domain returns the domain of a topology that an input names.
func (h *Handlers) domain(in asked) (*bier.Topology, *bier.Domain, error) {
	t, err := h.view(in.Topology)
	if err != nil {
		return nil, nil, err
	}
	d := t.Domain(in.Domain)
	if d == nil {
		return nil, nil, fault.At(fault.NotFound, "/bier-topology-api:input/domain-id", "there is no domain %d in topology %s", in.Domain, in.Topology)
	}
	return t, d, nil
}

// subDomain returns the topology of a sub-domain that an input names.
func (h *Handlers) subDomain(in asked) (*bier.Topology, error) {
	t, d, err := h.domain(in)
	if err == nil && !d.Has(in.SubDomain) {
		err = fault.At(fault.NotFound, "/bier-topology-api:input/sub-domain-id", "there is no sub-domain %d of domain %d", in.SubDomain, in.Domain)
	}
	return t, err
}
