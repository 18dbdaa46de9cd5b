package model

import (
	"cmp"
	"maps"
	"slices"

	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/fault"
)

// Model is all topologies. It is not safe for concurrent use.
type Model struct {
	Revision   uint64 // grows with each change
	topologies map[string]*Topology
}

// Topology is one of them. What the pointers lead to is never changed, only
// replaced.
type Topology struct {
	ID      string
	Nodes   map[string]*bier.Node
	Links   map[string]*bier.Link
	Domains map[uint16][]bier.SubDomainRef
	Online  map[string]bool // nodes that the source has now
	index   *bier.Index
}

// New returns an empty model.
func New() *Model { return &Model{topologies: map[string]*Topology{}} }

// Change is what a decision does to one topology.
type Change struct {
	Topology    string
	Gone        bool // the topology itself goes
	PutNodes    []*bier.Node
	DelNodes    []string
	PutLinks    []*bier.Link
	DelLinks    []string
	Domains     map[uint16][]bier.SubDomainRef // of the topology from now on; nil = as before
	Online      map[string]bool                // from now on; nil = as before
	Warnings    []bier.Problem
	ChangedLink []LinkChange
}

// LinkChange is a link that is different now.
type LinkChange struct{ Old, New *bier.Link }

// Empty reports whether nothing that is kept changes.
func (c *Change) Empty() bool {
	return c == nil || !c.Gone && len(c.PutNodes)+len(c.DelNodes)+len(c.PutLinks)+len(c.DelLinks) == 0 && c.Domains == nil && c.Online == nil
}

// IDs returns the ids of all topologies, ascending.
func (m *Model) IDs() []string { return slices.Sorted(maps.Keys(m.topologies)) }

// Get returns a topology; a fault.NotFound when there is none.
func (m *Model) Get(id string) (*Topology, error) {
	if id == "" {
		return nil, fault.At(fault.Missing, "/bier-topology-api:input/topology-id", "topology-id is missing")
	}
	t, ok := m.topologies[id]
	if !ok {
		return nil, fault.At(fault.NotFound, "/bier-topology-api:input/topology-id", "there is no topology %q; load-topology lists those there are", id)
	}
	return t, nil
}

// Apply makes a change.
func (m *Model) Apply(c *Change) {
	if c.Empty() {
		return
	}
	m.Revision++
	if c.Gone {
		delete(m.topologies, c.Topology)
		return
	}
	t := m.topologies[c.Topology]
	if t == nil {
		t = &Topology{ID: c.Topology, Nodes: map[string]*bier.Node{}, Links: map[string]*bier.Link{},
			Domains: map[uint16][]bier.SubDomainRef{}, Online: map[string]bool{}, index: bier.NewIndex()}
		m.topologies[c.Topology] = t
	}
	for _, id := range c.DelNodes {
		if old := t.Nodes[id]; old != nil {
			t.index.Remove(old)
			delete(t.Nodes, id)
		}
	}
	for _, n := range c.PutNodes {
		if old := t.Nodes[n.ID]; old != nil {
			t.index.Remove(old)
		}
		t.Nodes[n.ID] = n
	}
	for _, n := range c.PutNodes {
		t.index.Put(n)
	}
	for _, id := range c.DelLinks {
		delete(t.Links, id)
	}
	for _, l := range c.PutLinks {
		t.Links[l.ID] = l
	}
	if c.Domains != nil {
		t.Domains = c.Domains
	}
	if c.Online != nil {
		t.Online = c.Online
	}
}

// View returns a topology as module bier-topology shows it.
func (t *Topology) View() bier.Topology {
	v := bier.Topology{ID: t.ID, Nodes: make([]bier.Node, 0, len(t.Nodes)), Links: make([]bier.Link, 0, len(t.Links))}
	for _, n := range t.Nodes {
		v.Nodes = append(v.Nodes, *n)
	}
	for _, l := range t.Links {
		v.Links = append(v.Links, *l)
	}
	for id, subs := range t.Domains {
		v.Domains = append(v.Domains, bier.Domain{ID: id, SubDomains: slices.Clone(subs)})
	}
	v.Sort()
	return v
}

// has reports whether a domain has a sub-domain.
func (t *Topology) has(domain, sub uint16) bool {
	return slices.Contains(t.Domains[domain], bier.SubDomainRef{ID: sub})
}

// domains returns a copy that may be changed.
func (t *Topology) domains() map[uint16][]bier.SubDomainRef {
	out := make(map[uint16][]bier.SubDomainRef, len(t.Domains))
	for id, subs := range t.Domains {
		out[id] = slices.Clone(subs)
	}
	return out
}

func sortRefs(s []bier.SubDomainRef) {
	slices.SortFunc(s, func(a, b bier.SubDomainRef) int { return cmp.Compare(a.ID, b.ID) })
}
