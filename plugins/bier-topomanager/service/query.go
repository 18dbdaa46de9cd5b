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

// answer is the output of a query: a list by its name. An empty one is absent.
type answer map[string]any

func listAnswer[T any](name string, list []T) answer {
	if len(list) == 0 {
		return answer{}
	}
	return answer{name: list}
}

// ref is an entry of a list of keys.
type ref map[string]any

// queryHandler serves an RPC that reads one topology.
func queryHandler[Out any](
	find func(asked) (*bier.Topology, error),
	of func(asked, *bier.Topology) Out,
) operations.Handler {
	return operations.Func(func(_ context.Context, in asked) (any, error) {
		t, err := find(in)
		if err != nil {
			return nil, err
		}
		return of(in, t), nil
	})
}

func (s *Service) loadTopology(context.Context, operations.None) (answer, error) {
	var out []ref
	for _, id := range s.data.IDs(s.data.Store.Now()) {
		out = append(out, ref{"topology-id": id})
	}
	return listAnswer("topology", out), nil
}

type topologyOut struct {
	ID    string `json:"topology-id"`
	Nodes []ref  `json:"node-id,omitempty"`
	Links []ref  `json:"link-id,omitempty"`
}

func topologyAnswer(_ asked, t *bier.Topology) *topologyOut {
	out := &topologyOut{ID: t.ID}
	for i := range t.Nodes {
		out.Nodes = append(out.Nodes, ref{"node-id": t.Nodes[i].ID})
	}
	for i := range t.Links {
		out.Links = append(out.Links, ref{"link-id": t.Links[i].ID})
	}
	return out
}

func nodeAnswer(in asked, t *bier.Topology) answer {
	var out []*bier.Node
	for _, id := range in.Nodes {
		if n := t.Node(bier.ShortID(id)); n != nil {
			out = append(out, n)
		}
	}
	return listAnswer("node", out)
}

func linkAnswer(in asked, t *bier.Topology) answer {
	for i := range in.Links {
		in.Links[i] = bier.ShortID(in.Links[i])
	}
	return linksAnswer("link", t, func(l bier.Link) bool {
		return slices.Contains(in.Links, l.ID)
	})
}

// linksAnswer are those of a topology that are wanted.
func linksAnswer(name string, t *bier.Topology, wanted func(bier.Link) bool) answer {
	return listAnswer(
		name,
		slices.DeleteFunc(slices.Clone(t.Links), func(l bier.Link) bool {
			return !wanted(l)
		}),
	)
}

func domainAnswer(_ asked, t *bier.Topology) answer {
	var out []ref
	for _, d := range t.Domains {
		out = append(out, ref{"domain-id": d.ID})
	}
	return listAnswer("domain", out)
}

func subDomainAnswer(in asked, t *bier.Topology) answer {
	return listAnswer("subdomain", t.Domain(in.Domain).SubDomains)
}

// subDomainNodeAnswer has the members that the network has now.
func (s *Service) subDomainNodeAnswer(in asked, t *bier.Topology) answer {
	_, now := s.data.topologySources(s.data.Store.Now(), in.Topology)
	return listAnswer("subdomain-node", slices.DeleteFunc(slices.Clone(t.Nodes), func(n bier.Node) bool {
		return !in.isMember(&n) || !now[n.ID]
	}))
}

// subDomainLinkAnswer has the links of which both ends are members.
func subDomainLinkAnswer(in asked, t *bier.Topology) answer {
	return linksAnswer("subdomain-link", t, func(l bier.Link) bool {
		return in.isMember(t.Node(l.Source.Node)) && in.isMember(t.Node(l.Dest.Node))
	})
}

// isMember reports whether a node is in the sub-domain asked for.
func (in asked) isMember(n *bier.Node) bool {
	_, s := n.Member(in.Domain, in.SubDomain)
	return s != nil
}

// findTopology returns the topology that an input names, domain one that has its domain, subDomain one that
// has its sub-domain.
func (s *Service) findTopology(in asked) (*bier.Topology, error) {
	t := s.data.Topology(s.data.Store.Now(), in.Topology)
	return t, model.Found(t, in.Topology)
}

func (s *Service) topologyWithDomain(in asked) (*bier.Topology, error) {
	t, err := s.findTopology(in)
	if err == nil && t.Domain(in.Domain) == nil {
		err = fault.At(
			fault.NotFound,
			"/bier-topology-api:input/domain-id",
			"there is no domain %d in topology %s",
			in.Domain,
			in.Topology,
		)
	}
	return t, err
}

func (s *Service) subDomain(in asked) (*bier.Topology, error) {
	t, err := s.topologyWithDomain(in)
	if err == nil && !t.Domain(in.Domain).Has(in.SubDomain) {
		err = fault.At(
			fault.NotFound,
			"/bier-topology-api:input/sub-domain-id",
			"there is no sub-domain %d of domain %d",
			in.SubDomain,
			in.Domain,
		)
	}
	return t, err
}
