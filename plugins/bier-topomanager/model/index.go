package model

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"ctl.internal/internal/bier"
)

// Index knows what must be unique or alike among the nodes of a topology.
type Index struct {
	ids      map[idKey]string     // who has a BFR-id
	prefixes map[prefixKey]string // who has a BFR-prefix
	kinds    map[subKey]map[kind]map[string]bool
}

type subKey struct{ domain, sub uint16 }

type idKey struct {
	subKey
	id uint16
}

type prefixKey struct {
	domain uint16
	addr   netip.Addr
}

// kind is what the members of a sub-domain must have in common.
type kind struct {
	igp string
	mt  uint16
}

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{
		ids:      map[idKey]string{},
		prefixes: map[prefixKey]string{},
		kinds:    map[subKey]map[kind]map[string]bool{},
	}
}

// walkNode calls the functions for all that a node has.
func walkNode(n *bier.Node, id func(idKey), prefix func(prefixKey, string), k func(subKey, kind)) {
	for i := range n.Params.Domains {
		d := &n.Params.Domains[i]
		for _, text := range []string{d.Global.IPv4Prefix, d.Global.IPv6Prefix} {
			if p, err := netip.ParsePrefix(text); err == nil {
				prefix(prefixKey{d.ID, p.Addr()}, text)
			}
		}
		for j := range d.Global.SubDomains {
			s := &d.Global.SubDomains[j]
			at := subKey{d.ID, s.ID}
			if b := bier.BFRID(d, s); b != 0 {
				id(idKey{at, b})
			}
			x := kind{igp: s.IGP}
			if s.MT != nil {
				x.mt = *s.MT
			}
			k(at, x)
		}
	}
}

// Put adds a node. What another node has already stays the other's.
func (x *Index) Put(n *bier.Node) {
	walkNode(n, func(k idKey) {
		if _, ok := x.ids[k]; !ok {
			x.ids[k] = n.ID
		}
	}, func(k prefixKey, _ string) {
		if _, ok := x.prefixes[k]; !ok {
			x.prefixes[k] = n.ID
		}
	}, func(at subKey, k kind) {
		if x.kinds[at] == nil {
			x.kinds[at] = map[kind]map[string]bool{}
		}
		if x.kinds[at][k] == nil {
			x.kinds[at][k] = map[string]bool{}
		}
		x.kinds[at][k][n.ID] = true
	})
}

// Check returns where a node conflicts with the others of the index. The node may
// be in it, in an older form too.
func (x *Index) Check(n *bier.Node) []Problem {
	p := &problems{}
	walkNode(n, func(k idKey) {
		if other, ok := x.ids[k]; ok && other != n.ID {
			p.where = fmt.Sprintf("node %s, domain %d, sub-domain %d", n.ID, k.domain, k.sub)
			p.addError("bfr-id %d is node %s's", k.id, other)
		}
	}, func(k prefixKey, text string) {
		if other, ok := x.prefixes[k]; ok && other != n.ID {
			p.where = fmt.Sprintf("node %s, domain %d", n.ID, k.domain)
			p.addError("the BFR-prefix %s is node %s's", text, other)
		}
	}, func(at subKey, k kind) {
		for other, nodes := range x.kinds[at] {
			name, ok := otherName(nodes, n.ID)
			if ok && other != k {
				p.where = fmt.Sprintf("node %s, domain %d, sub-domain %d", n.ID, at.domain, at.sub)
				p.addWarning(
					"igp-type %s, mt-id %d differ from %s, %d of node %s; routers ignore each other until they agree",
					k.igp,
					k.mt,
					other.igp,
					other.mt,
					name,
				)
			}
		}
	})
	slices.SortFunc(p.list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.Text, b.Text))
	})
	return p.list
}

// otherName returns a name of the set that is not this one.
func otherName(set map[string]bool, not string) (string, bool) {
	for name := range set {
		if name != not {
			return name, true
		}
	}
	return "", false
}

// Problems returns all that is wrong with the nodes and domains of a topology, which may
// be nil.
func Problems(t *bier.Topology) []Problem {
	if t == nil {
		return nil
	}
	p := &problems{}
	x := NewIndex()
	for i := range t.Nodes {
		n := &t.Nodes[i]
		p.list = append(append(p.list, CheckNode(n)...), x.Check(n)...)
		x.Put(n)
		for j := range n.Params.Domains {
			d := &n.Params.Domains[j]
			for _, s := range d.Global.SubDomains {
				if !t.Domain(d.ID).Has(s.ID) {
					p.where = fmt.Sprintf("node %s, domain %d, sub-domain %d", n.ID, d.ID, s.ID)
					p.addError("there is no such sub-domain")
				}
			}
		}
	}
	for _, d := range t.Domains {
		p.where = fmt.Sprintf("domain %d", d.ID)
		if len(d.SubDomains) > 0 && !d.Has(0) {
			p.addError("sub-domain 0 is missing; every domain has it")
		}
		for _, s := range d.SubDomains {
			if s.ID > maxSubDomain {
				p.addError("sub-domain-id %d is not within 0..%d", s.ID, maxSubDomain)
			}
		}
	}
	return p.list
}
