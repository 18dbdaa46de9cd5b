package model

import (
	"fmt"
	"maps"
	"slices"

	"ctl.internal/sdk/bier"
)

// InUse says why part of a topology cannot go: the text names the channel. "" = it
// can. Node "" is any node, sub < 0 any sub-domain.
type InUse func(node string, domain uint16, sub int) string

// ConfigureDomain makes domains. All of them are new, or none is made.
func (m *Model) ConfigureDomain(topology string, ids []uint16) (*Change, error) {
	t, err := m.Get(topology)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("domain is missing: which domains shall be made?")
	}
	c := &Change{Topology: topology, Domains: t.domains()}
	for _, id := range ids {
		if _, ok := c.Domains[id]; ok {
			return nil, fmt.Errorf("domain %d is there already", id)
		}
		c.Domains[id] = []bier.SubDomainRef{{ID: 0}}
	}
	return c, nil
}

// ConfigureSubDomain makes sub-domains of a domain. Naming sub-domain 0, which was
// made with the domain, is no error while no node is in it.
func (m *Model) ConfigureSubDomain(topology string, domain *uint16, ids []uint16) (*Change, error) {
	t, err := m.Get(topology)
	if err != nil {
		return nil, err
	}
	switch {
	case domain == nil:
		return nil, fmt.Errorf("domain-id is missing")
	case len(ids) == 0:
		return nil, fmt.Errorf("sub-domain is missing: which sub-domains shall be made?")
	case t.Domains[*domain] == nil:
		return nil, fmt.Errorf("there is no domain %d in topology %s", *domain, topology)
	}
	c := &Change{Topology: topology, Domains: t.domains()}
	for i, id := range ids {
		ref := bier.SubDomainRef{ID: id}
		switch {
		case id > 255:
			return nil, fmt.Errorf("sub-domain-id %d is not within 0..255", id)
		case id == 0 && !slices.Contains(ids[:i], 0) && t.has(*domain, 0) && !t.used(*domain, 0):
			continue
		case slices.Contains(c.Domains[*domain], ref):
			return nil, fmt.Errorf("sub-domain %d of domain %d is there already", id, *domain)
		}
		c.Domains[*domain] = append(c.Domains[*domain], ref)
	}
	sortRefs(c.Domains[*domain])
	return c, nil
}

// used reports whether a node is in a sub-domain.
func (t *Topology) used(domain, sub uint16) bool {
	for _, n := range t.Nodes {
		if _, s := n.Member(domain, sub); s != nil {
			return true
		}
	}
	return false
}

// DeleteDomain removes a domain, at its nodes too.
func (m *Model) DeleteDomain(topology string, domain *uint16, use InUse) (*Change, error) {
	t, err := m.Get(topology)
	if err != nil {
		return nil, err
	}
	if domain == nil {
		return nil, fmt.Errorf("domain-id is missing")
	}
	if t.Domains[*domain] == nil {
		return nil, fmt.Errorf("there is no domain %d in topology %s", *domain, topology)
	}
	if why := use("", *domain, -1); why != "" {
		return nil, fmt.Errorf("domain %d is in use: %s", *domain, why)
	}
	c := &Change{Topology: topology, Domains: t.domains()}
	delete(c.Domains, *domain)
	t.edit(c, func(n *bier.Node) bool { return dropDomain(n, *domain) })
	return c, nil
}

// DeleteSubDomain removes a sub-domain, at its nodes too. Sub-domain 0 goes last.
func (m *Model) DeleteSubDomain(topology string, domain, sub *uint16, use InUse) (*Change, error) {
	t, err := m.Get(topology)
	if err != nil {
		return nil, err
	}
	switch {
	case domain == nil:
		return nil, fmt.Errorf("domain-id is missing")
	case sub == nil:
		return nil, fmt.Errorf("sub-domain-id is missing")
	case t.Domains[*domain] == nil:
		return nil, fmt.Errorf("there is no domain %d in topology %s", *domain, topology)
	case !t.has(*domain, *sub):
		return nil, fmt.Errorf("there is no sub-domain %d of domain %d", *sub, *domain)
	case *sub == 0 && len(t.Domains[*domain]) > 1:
		return nil, fmt.Errorf("sub-domain 0 of domain %d stays while there are others; every domain has it", *domain)
	}
	if why := use("", *domain, int(*sub)); why != "" {
		return nil, fmt.Errorf("sub-domain %d of domain %d is in use: %s", *sub, *domain, why)
	}
	c := &Change{Topology: topology, Domains: t.domains()}
	c.Domains[*domain] = slices.DeleteFunc(c.Domains[*domain], func(r bier.SubDomainRef) bool { return r.ID == *sub })
	t.edit(c, func(n *bier.Node) bool { return dropSubDomain(n, *domain, *sub) })
	return c, nil
}

// edit lets f change a copy of each node that takes part in BIER; those for which
// it answers true become part of the change.
func (t *Topology) edit(c *Change, f func(*bier.Node) bool) {
	for _, id := range slices.Sorted(maps.Keys(t.Nodes)) {
		if len(t.Nodes[id].Params.Domains) == 0 {
			continue
		}
		if n := clone(t.Nodes[id]); f(n) {
			c.PutNodes = append(c.PutNodes, n)
		}
	}
}

func dropDomain(n *bier.Node, domain uint16) bool {
	before := len(n.Params.Domains)
	n.Params.Domains = slices.DeleteFunc(n.Params.Domains, func(d bier.NodeDomain) bool { return d.ID == domain })
	return len(n.Params.Domains) != before
}

// dropSubDomain takes a node out of a sub-domain, and out of the domain when that
// was the last.
func dropSubDomain(n *bier.Node, domain, sub uint16) bool {
	d, s := n.Member(domain, sub)
	if s == nil {
		return false
	}
	d.Global.SubDomains = slices.DeleteFunc(d.Global.SubDomains, func(s bier.SubDomain) bool { return s.ID == sub })
	if len(d.Global.SubDomains) == 0 {
		dropDomain(n, domain)
	}
	return true
}
