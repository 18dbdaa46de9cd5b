package model

import (
	"fmt"
	"slices"

	"ctl.internal/internal/bier"
)

// ConfigureDomain makes domains. All of them are new, or none is made.
func ConfigureDomain(t *bier.Topology, ids []uint16) (*Change, error) {
	if len(ids) == 0 {
		return nil, fmt.Errorf("domain is missing: list the domains to create")
	}
	c := &Change{}
	for i, id := range ids {
		if t.Domain(id) != nil || slices.Contains(ids[:i], id) {
			return nil, fmt.Errorf("domain %d exists already", id)
		}
		c.Domains = append(c.Domains, bier.Domain{
			ID:         id,
			SubDomains: []bier.SubDomainRef{{ID: 0}},
		})
	}
	return c, nil
}

// ConfigureSubDomain makes sub-domains of a domain. Naming sub-domain 0, which was
// made with the domain, is no error while no node is in it.
func ConfigureSubDomain(t *bier.Topology, id *uint16, subs []uint16) (*Change, error) {
	d, err := copyDomain(t, id)
	switch {
	case id != nil && len(subs) == 0:
		return nil, fmt.Errorf("sub-domain is missing: list the sub-domains to create")
	case err != nil:
		return nil, err
	}
	for i, sub := range subs {
		switch {
		case sub > 255:
			return nil, fmt.Errorf("sub-domain-id %d is not within 0..255", sub)
		case sub == 0 && !slices.Contains(subs[:i], 0) && d.Has(0) && !hasSubDomainMembers(t, d.ID, 0):
			continue
		case d.Has(sub):
			return nil, fmt.Errorf("sub-domain %d of domain %d exists already", sub, d.ID)
		}
		d.SubDomains = append(d.SubDomains, bier.SubDomainRef{ID: sub})
	}
	sortRefs(d.SubDomains)
	return &Change{Domains: []bier.Domain{d}}, nil
}

// hasSubDomainMembers reports whether a node is in a sub-domain.
func hasSubDomainMembers(t *bier.Topology, domain, sub uint16) bool {
	return slices.ContainsFunc(t.Nodes, func(n bier.Node) bool {
		_, s := n.Member(domain, sub)
		return s != nil
	})
}

// DeleteDomain removes a domain, at its nodes too.
func DeleteDomain(t *bier.Topology, id *uint16, channels []bier.Channel) (*Change, error) {
	d, err := copyDomain(t, id)
	if err != nil {
		return nil, err
	}
	if why := findChannelUse(channels, "", d.ID, -1); why != "" {
		return nil, fmt.Errorf("domain %d is in use: %s", d.ID, why)
	}
	return &Change{
		Gone:  []uint16{d.ID},
		Nodes: editNodes(t, func(n *bier.Node) bool { return dropDomain(n, d.ID) }),
	}, nil
}

// DeleteSubDomain removes a sub-domain, at its nodes too. Sub-domain 0 goes last.
func DeleteSubDomain(t *bier.Topology, id, sub *uint16, channels []bier.Channel) (*Change, error) {
	d, err := copyDomain(t, id)
	switch {
	case id != nil && sub == nil:
		return nil, fmt.Errorf("sub-domain-id is missing")
	case err != nil:
		return nil, err
	case !d.Has(*sub):
		return nil, fmt.Errorf("there is no sub-domain %d of domain %d", *sub, d.ID)
	case *sub == 0 && len(d.SubDomains) > 1:
		return nil, fmt.Errorf(
			"sub-domain 0 of domain %d stays while there are others; every domain has it",
			d.ID,
		)
	}
	if why := findChannelUse(channels, "", d.ID, int(*sub)); why != "" {
		return nil, fmt.Errorf("sub-domain %d of domain %d is in use: %s", *sub, d.ID, why)
	}
	d.SubDomains = slices.DeleteFunc(d.SubDomains, func(r bier.SubDomainRef) bool {
		return r.ID == *sub
	})
	return &Change{
		Domains: []bier.Domain{d},
		Nodes: editNodes(t, func(n *bier.Node) bool {
			return dropSubDomain(n, d.ID, *sub)
		}),
	}, nil
}

// editNodes lets f change a copy of each node that takes part in BIER and returns those for
// which it answers true.
func editNodes(t *bier.Topology, f func(*bier.Node) bool) (out []bier.Node) {
	for i := range t.Nodes {
		if len(t.Nodes[i].Params.Domains) == 0 {
			continue
		}
		if n := cloneNode(&t.Nodes[i]); f(n) {
			out = append(out, *n)
		}
	}
	return out
}

func dropDomain(n *bier.Node, domain uint16) bool {
	before := len(n.Params.Domains)
	n.Params.Domains = slices.DeleteFunc(n.Params.Domains, func(d bier.NodeDomain) bool {
		return d.ID == domain
	})
	return len(n.Params.Domains) != before
}

// dropSubDomain takes a node out of a sub-domain, and out of the domain when that
// was the last.
func dropSubDomain(n *bier.Node, domain, sub uint16) bool {
	d, s := n.Member(domain, sub)
	if s == nil {
		return false
	}
	d.Global.SubDomains = slices.DeleteFunc(d.Global.SubDomains, func(s bier.SubDomain) bool {
		return s.ID == sub
	})
	if len(d.Global.SubDomains) == 0 {
		dropDomain(n, domain)
	}
	return true
}
