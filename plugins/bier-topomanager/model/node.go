package model

import (
	"cmp"
	"fmt"
	"slices"

	"ctl.internal/sdk/bier"
)

// ConfigureNode adds to the configuration of a node: what is not given stays, list
// entries accumulate. All of it is right, or nothing changes.
func (m *Model) ConfigureNode(topology, node string, domains []bier.NodeDomain) (*Change, error) {
	t, n, err := m.node(topology, node)
	if err != nil {
		return nil, err
	}
	if len(domains) == 0 {
		return nil, fmt.Errorf("domain is missing: what shall be configured at node %s?", node)
	}
	next := clone(n)
	for i := range domains {
		d := &domains[i]
		if _, ok := t.Domains[d.ID]; !ok {
			return nil, fmt.Errorf("there is no domain %d in topology %s; configure-domain makes it", d.ID, topology)
		}
		for _, s := range d.Global.SubDomains {
			if !t.has(d.ID, s.ID) {
				return nil, fmt.Errorf("there is no sub-domain %d of domain %d; configure-subdomain makes it", s.ID, d.ID)
			}
		}
		mergeDomain(next, d)
	}
	found := append(bier.CheckNode(next), t.index.Check(next)...)
	if err := bier.FirstError(found); err != nil {
		return nil, err
	}
	return &Change{Topology: topology, PutNodes: []*bier.Node{next}, Warnings: found}, nil
}

// DeleteNode takes a node out of a sub-domain.
func (m *Model) DeleteNode(topology, node string, domain, sub *uint16, use InUse) (*Change, error) {
	_, n, err := m.member(topology, node, domain, sub)
	if err != nil {
		return nil, err
	}
	if why := use(node, *domain, int(*sub)); why != "" {
		return nil, fmt.Errorf("%s", why)
	}
	next := clone(n)
	dropSubDomain(next, *domain, *sub)
	return &Change{Topology: topology, PutNodes: []*bier.Node{next}}, nil
}

// DeleteEncapsulation takes a label range from a node, by its length and base.
func (m *Model) DeleteEncapsulation(topology, node string, domain, sub *uint16, v6 bool, e *bier.Encapsulation) (*Change, error) {
	_, n, err := m.member(topology, node, domain, sub)
	if err != nil {
		return nil, err
	}
	family := "ipv4"
	if v6 {
		family = "ipv6"
	}
	if e == nil || e.BSL == 0 {
		return nil, fmt.Errorf("%s with bitstringlength and bier-mpls-label-base is missing", family)
	}
	next := clone(n)
	_, s := next.Member(*domain, *sub)
	list := &s.AF.IPv4
	if v6 {
		list = &s.AF.IPv6
	}
	before := len(*list)
	*list = slices.DeleteFunc(*list, func(x bier.Encapsulation) bool { return x.BSL == e.BSL && x.Base == e.Base })
	if len(*list) == before {
		return nil, fmt.Errorf("node %s has no %s entry of bitstringlength %d and label base %d in sub-domain %d of domain %d", node, family, e.BSL, e.Base, *sub, *domain)
	}
	return &Change{Topology: topology, PutNodes: []*bier.Node{next}}, nil
}

func (m *Model) node(topology, node string) (*Topology, *bier.Node, error) {
	t, err := m.Get(topology)
	if err != nil {
		return nil, nil, err
	}
	if node == "" {
		return nil, nil, fmt.Errorf("node-id is missing")
	}
	n := t.Nodes[node]
	if n == nil {
		return nil, nil, fmt.Errorf("there is no node %s in topology %s", node, topology)
	}
	return t, n, nil
}

func (m *Model) member(topology, node string, domain, sub *uint16) (*Topology, *bier.Node, error) {
	t, n, err := m.node(topology, node)
	switch {
	case err != nil:
		return nil, nil, err
	case domain == nil:
		return nil, nil, fmt.Errorf("domain-id is missing")
	case sub == nil:
		return nil, nil, fmt.Errorf("sub-domain-id is missing")
	}
	if _, s := n.Member(*domain, *sub); s == nil {
		return nil, nil, fmt.Errorf("node %s is not in sub-domain %d of domain %d", node, *sub, *domain)
	}
	return t, n, nil
}

func mergeDomain(n *bier.Node, in *bier.NodeDomain) {
	d := n.Domain(in.ID)
	if d == nil {
		n.Params.Domains = append(n.Params.Domains, bier.NodeDomain{ID: in.ID})
		slices.SortFunc(n.Params.Domains, func(a, b bier.NodeDomain) int { return cmp.Compare(a.ID, b.ID) })
		d = n.Domain(in.ID)
	}
	g := &d.Global
	keep(&g.Encapsulation, in.Global.Encapsulation)
	keep(&g.BSL, in.Global.BSL)
	keep(&g.BFRID, in.Global.BFRID)
	keep(&g.IPv4Prefix, in.Global.IPv4Prefix)
	keep(&g.IPv6Prefix, in.Global.IPv6Prefix)
	for i := range in.Global.SubDomains {
		mergeSubDomain(d, &in.Global.SubDomains[i])
	}
}

func mergeSubDomain(d *bier.NodeDomain, in *bier.SubDomain) {
	s := d.SubDomain(in.ID)
	if s == nil {
		g := &d.Global
		g.SubDomains = append(g.SubDomains, bier.SubDomain{ID: in.ID})
		slices.SortFunc(g.SubDomains, func(a, b bier.SubDomain) int { return cmp.Compare(a.ID, b.ID) })
		s = d.SubDomain(in.ID)
	}
	keep(&s.IGP, in.IGP)
	keep(&s.MT, in.MT)
	keep(&s.BFRID, in.BFRID)
	keep(&s.BSL, in.BSL)
	s.AF.IPv4 = mergeRanges(s.AF.IPv4, in.AF.IPv4)
	s.AF.IPv6 = mergeRanges(s.AF.IPv6, in.AF.IPv6)
}

// mergeRanges adds entries; one with the same key gets the new size.
func mergeRanges(have, in []bier.Encapsulation) []bier.Encapsulation {
	for _, e := range in {
		if i := slices.IndexFunc(have, func(x bier.Encapsulation) bool { return x.BSL == e.BSL && x.Base == e.Base }); i >= 0 {
			have[i] = e
		} else {
			have = append(have, e)
		}
	}
	slices.SortFunc(have, func(a, b bier.Encapsulation) int {
		return cmp.Or(cmp.Compare(a.BSL, b.BSL), cmp.Compare(a.Base, b.Base))
	})
	return have
}

// keep sets what was given.
func keep[T comparable](old *T, given T) {
	var zero T
	if given != zero {
		*old = given
	}
}

// clone copies all of a node that may be changed.
func clone(n *bier.Node) *bier.Node {
	out := *n
	out.Params.Domains = slices.Clone(n.Params.Domains)
	for i := range out.Params.Domains {
		g := &out.Params.Domains[i].Global
		g.SubDomains = slices.Clone(g.SubDomains)
		for j := range g.SubDomains {
			a := &g.SubDomains[j].AF
			a.IPv4, a.IPv6 = slices.Clone(a.IPv4), slices.Clone(a.IPv6)
		}
	}
	return &out
}
