package service

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

// answer is the output of a query: lists by their names. An empty one is absent.
type answer map[string]any

func listed[T any](name string, list []T) answer {
	if len(list) == 0 {
		return answer{}
	}
	return answer{name: list}
}

// ref is an entry of a list of keys.
type ref[T any] map[string]T

func (s *Service) loadTopology(context.Context, operations.None) (answer, error) {
	var out []ref[string]
	for _, id := range s.data.IDs(s.data.Store.Now()) {
		out = append(out, ref[string]{"topology-id": id})
	}
	return listed("topology", out), nil
}

type topologyOut struct {
	ID    string        `json:"topology-id"`
	Nodes []ref[string] `json:"node-id,omitempty"`
	Links []ref[string] `json:"link-id,omitempty"`
}

func (s *Service) queryTopology(_ context.Context, in asked) (*topologyOut, error) {
	t, err := s.view(in.Topology)
	if err != nil {
		return nil, err
	}
	out := &topologyOut{ID: t.ID}
	for i := range t.Nodes {
		out.Nodes = append(out.Nodes, ref[string]{"node-id": t.Nodes[i].ID})
	}
	for i := range t.Links {
		out.Links = append(out.Links, ref[string]{"link-id": t.Links[i].ID})
	}
	return out, nil
}

func (s *Service) queryNode(_ context.Context, in asked) (answer, error) {
	t, err := s.view(in.Topology)
	if err != nil {
		return nil, err
	}
	var out []bier.Node
	for _, id := range in.Nodes {
		if n := t.Node(bier.ShortID(id)); n != nil {
			out = append(out, *n)
		}
	}
	return listed("node", out), nil
}

func (s *Service) queryLink(_ context.Context, in asked) (answer, error) {
	t, err := s.view(in.Topology)
	if err != nil {
		return nil, err
	}
	for i := range in.Links {
		in.Links[i] = bier.ShortID(in.Links[i])
	}
	return links("link", t, func(l bier.Link) bool { return slices.Contains(in.Links, l.ID) }), nil
}

// links are those of a topology that are wanted.
func links(name string, t *bier.Topology, wanted func(bier.Link) bool) answer {
	return listed(name, slices.DeleteFunc(slices.Clone(t.Links), func(l bier.Link) bool { return !wanted(l) }))
}

func (s *Service) queryDomain(_ context.Context, in asked) (answer, error) {
	t, err := s.view(in.Topology)
	if err != nil {
		return nil, err
	}
	var out []ref[uint16]
	for _, d := range t.Domains {
		out = append(out, ref[uint16]{"domain-id": d.ID})
	}
	return listed("domain", out), nil
}

func (s *Service) querySubDomain(_ context.Context, in asked) (answer, error) {
	_, d, err := s.domain(in)
	if err != nil {
		return nil, err
	}
	return listed("subdomain", d.SubDomains), nil
}

// querySubDomainNode answers members that the network has now.
func (s *Service) querySubDomainNode(_ context.Context, in asked) (answer, error) {
	t, err := s.subDomain(in)
	if err != nil {
		return nil, err
	}
	now, _ := s.data.Observed.Get(s.data.Store.Now(), in.Topology)
	return listed("subdomain-node", slices.DeleteFunc(slices.Clone(t.Nodes), func(n bier.Node) bool {
		return !in.member(&n) || !slices.Contains(now.Nodes, n.ID)
	})), nil
}

// querySubDomainLink answers links of which both ends are members.
func (s *Service) querySubDomainLink(_ context.Context, in asked) (answer, error) {
	t, err := s.subDomain(in)
	if err != nil {
		return nil, err
	}
	return links("subdomain-link", t, func(l bier.Link) bool {
		return in.member(t.Node(l.Source.Node)) && in.member(t.Node(l.Dest.Node))
	}), nil
}

// member reports whether a node is in the sub-domain asked for.
func (in asked) member(n *bier.Node) bool {
	_, s := n.Member(in.Domain, in.SubDomain)
	return s != nil
}

// view returns one topology.
func (s *Service) view(id string) (*bier.Topology, error) {
	t := s.data.Topology(s.data.Store.Now(), id)
	return t, model.Found(t, id)
}

// domain returns the domain of a topology that an input names.
func (s *Service) domain(in asked) (*bier.Topology, *bier.Domain, error) {
	t, err := s.view(in.Topology)
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
func (s *Service) subDomain(in asked) (*bier.Topology, error) {
	t, d, err := s.domain(in)
	if err == nil && !d.Has(in.SubDomain) {
		err = fault.At(fault.NotFound, "/bier-topology-api:input/sub-domain-id", "there is no sub-domain %d of domain %d", in.SubDomain, in.Domain)
	}
	return t, err
}
