package model

import (
	"cmp"
	"fmt"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
)

// ConfigureNode adds to the configuration of a node: what is not given stays, list
// entries accumulate. All of it is right, or nothing changes.
func ConfigureNode(t *bier.Topology, node string, domains []bier.NodeDomain) (*Change, error) {
	n, err := findNode(t, node)
	if err != nil {
		return nil, err
	}
	if len(domains) == 0 {
		return nil, fmt.Errorf("domain is missing: list what to configure at node %s", node)
	}
	next := cloneNode(n)
	for i := range domains {
		d := &domains[i]
		known := t.Domain(d.ID)
		if known == nil {
			return nil, fmt.Errorf(
				"there is no domain %d in topology %s; configure-domain creates it",
				d.ID,
				t.ID,
			)
		}
		for _, s := range d.Global.SubDomains {
			if !known.Has(s.ID) {
				return nil, fmt.Errorf(
					"there is no sub-domain %d of domain %d; configure-subdomain creates it",
					s.ID,
					d.ID,
				)
			}
		}
		mergeDomain(next, d)
	}
	others := NewIndex()
	for i := range t.Nodes {
		if t.Nodes[i].ID != node {
			others.Put(&t.Nodes[i])
		}
	}
	found := append(CheckNode(next), others.Check(next)...)
	if err := firstError(found); err != nil {
		return nil, err
	}
	return &Change{
		Nodes:    []bier.Node{*next},
		Warnings: found,
	}, nil
}

// SubDomains is in how many sub-domains a node is.
func SubDomains(n *bier.Node) (many int) {
	for i := range n.Params.Domains {
		many += len(n.Params.Domains[i].Global.SubDomains)
	}
	return many
}

// CheckAbilities refuses several sub-domains on a router whose model has one.
func CheckAbilities(n *bier.Node, one bool) error {
	if many := SubDomains(n); one && many > 1 {
		return fmt.Errorf(
			"node %s would be in %d sub-domains, but the model of this router has one (it lacks %s); delete-node takes it out of another",
			n.ID,
			many,
			bierdriver.SubDomains,
		)
	}
	return nil
}

// DeleteNode takes a node out of a sub-domain.
func DeleteNode(
	t *bier.Topology,
	node string,
	domain, sub *uint16,
	channels []bier.Channel,
) (*Change, error) {
	n, err := findMember(t, node, domain, sub)
	if err != nil {
		return nil, err
	}
	if why := findChannelUse(channels, node, *domain, int(*sub)); why != "" {
		return nil, fmt.Errorf("%s", why)
	}
	next := cloneNode(n)
	dropSubDomain(next, *domain, *sub)
	return &Change{Nodes: []bier.Node{*next}}, nil
}

// DeleteEncapsulation takes a label range from a node, by its length and base.
func DeleteEncapsulation(
	t *bier.Topology,
	node string,
	domain, sub *uint16,
	v6 bool,
	e *bier.Encapsulation,
) (*Change, error) {
	n, err := findMember(t, node, domain, sub)
	if err != nil {
		return nil, err
	}
	family := "ipv4"
	if v6 {
		family = "ipv6"
	}
	if e == nil || e.BSL == 0 {
		return nil, fmt.Errorf(
			"%s with bitstringlength and bier-mpls-label-base is missing",
			family,
		)
	}
	next := cloneNode(n)
	_, s := next.Member(*domain, *sub)
	list := &s.AF.IPv4
	if v6 {
		list = &s.AF.IPv6
	}
	before := len(*list)
	*list = slices.DeleteFunc(*list, func(x bier.Encapsulation) bool {
		return x.BSL == e.BSL && x.Base == e.Base
	})
	if len(*list) == before {
		return nil, fmt.Errorf(
			"node %s has no %s entry of bitstringlength %d and label base %d in sub-domain %d of domain %d",
			node,
			family,
			e.BSL,
			e.Base,
			*sub,
			*domain,
		)
	}
	if err := firstError(CheckNode(next)); err != nil && firstError(CheckNode(n)) == nil {
		return nil, fmt.Errorf("%w; delete-node takes the node out of the sub-domain", err)
	}
	return &Change{Nodes: []bier.Node{*next}}, nil
}

func findNode(t *bier.Topology, node string) (*bier.Node, error) {
	if node == "" {
		return nil, fmt.Errorf("node-id is missing")
	}
	n := t.Node(node)
	if n == nil {
		return nil, fmt.Errorf("there is no node %s in topology %s", node, t.ID)
	}
	return n, nil
}

func findMember(t *bier.Topology, node string, domain, sub *uint16) (*bier.Node, error) {
	n, err := findNode(t, node)
	switch {
	case err != nil:
		return nil, err
	case domain == nil:
		return nil, fmt.Errorf("domain-id is missing")
	case sub == nil:
		return nil, fmt.Errorf("sub-domain-id is missing")
	}
	if _, s := n.Member(*domain, *sub); s == nil {
		return nil, fmt.Errorf("node %s is not in sub-domain %d of domain %d", node, *sub, *domain)
	}
	return n, nil
}

func mergeDomain(n *bier.Node, in *bier.NodeDomain) {
	d := n.Domain(in.ID)
	if d == nil {
		n.Params.Domains = append(n.Params.Domains, bier.NodeDomain{ID: in.ID})
		slices.SortFunc(n.Params.Domains, func(a, b bier.NodeDomain) int {
			return cmp.Compare(a.ID, b.ID)
		})
		d = n.Domain(in.ID)
	}
	g := &d.Global
	setIfGiven(&g.Encapsulation, in.Global.Encapsulation)
	setIfGiven(&g.BSL, in.Global.BSL)
	setIfGiven(&g.BFRID, in.Global.BFRID)
	setIfGiven(&g.IPv4Prefix, in.Global.IPv4Prefix)
	setIfGiven(&g.IPv6Prefix, in.Global.IPv6Prefix)
	for i := range in.Global.SubDomains {
		mergeSubDomain(d, &in.Global.SubDomains[i])
	}
}

func mergeSubDomain(d *bier.NodeDomain, in *bier.SubDomain) {
	s := d.SubDomain(in.ID)
	if s == nil {
		g := &d.Global
		g.SubDomains = append(g.SubDomains, bier.SubDomain{ID: in.ID})
		slices.SortFunc(g.SubDomains, func(a, b bier.SubDomain) int {
			return cmp.Compare(a.ID, b.ID)
		})
		s = d.SubDomain(in.ID)
	}
	setIfGiven(&s.IGP, in.IGP)
	setIfGiven(&s.MT, in.MT)
	setIfGiven(&s.BFRID, in.BFRID)
	setIfGiven(&s.BSL, in.BSL)
	s.AF.IPv4 = mergeRanges(s.AF.IPv4, in.AF.IPv4)
	s.AF.IPv6 = mergeRanges(s.AF.IPv6, in.AF.IPv6)
}

// mergeRanges adds entries; one with the same key gets the new size.
func mergeRanges(have, in []bier.Encapsulation) []bier.Encapsulation {
	for _, e := range in {
		i := slices.IndexFunc(have, func(x bier.Encapsulation) bool {
			return x.BSL == e.BSL && x.Base == e.Base
		})
		if i >= 0 {
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

// setIfGiven sets what was given.
func setIfGiven[T comparable](old *T, given T) {
	var zero T
	if given != zero {
		*old = given
	}
}

// cloneNode copies all of a node that may be changed.
func cloneNode(n *bier.Node) *bier.Node {
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
