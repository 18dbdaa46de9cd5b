package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"ctl.internal/internal/bier"
)

// Numbering is what is to be numbered: nodes of a sub-domain, or nodes that become members of it. What a node has
// already stays.
type Numbering struct {
	Domain    uint16
	SubDomain uint16
	Nodes     []string // none: all nodes of the topology
	BSL       bier.BSL // of nodes that have no length yet
	IGP       string   // of nodes that have none, "": that of the other members, else ISIS
	// IPv4 and IPv6 are where BFR-prefixes are taken from. Without them a node gets that of its other domains, or its
	// router-id.
	IPv4, IPv6 netip.Prefix
	LabelBase  uint32 // of the first label block of a router
}

// Numbered is what one node has after a numbering.
type Numbered struct {
	Node       string   `json:"node-id"`
	BFRID      uint16   `json:"bfr-id"`
	IPv4Prefix string   `json:"ipv4-bfr-prefix,omitempty"`
	IPv6Prefix string   `json:"ipv6-bfr-prefix,omitempty"`
	BSL        uint16   `json:"bitstringlength"`
	IGP        string   `json:"igp-type"`
	LabelBase  uint32   `json:"label-base,omitempty"`
	LabelSize  uint8    `json:"label-range-size,omitempty"`
	New        []string `json:"new,omitempty"` // the leaves that were not there before
}

// Proposal is what a numbering comes to.
type Proposal struct {
	Nodes  []Numbered
	Change *Change
	// ID is the same for the same proposal.
	ID string
}

// numberer hands out what is free.
type numberer struct {
	Numbering
	topology *bier.Topology
	ids      map[uint16]bool
	prefixes map[netip.Addr]bool
	igp      string
	mt       *uint16
}

// Number proposes BFR-ids, BFR-prefixes and label blocks. All of it is right, or it is an error.
func Number(t *bier.Topology, n Numbering) (*Proposal, error) {
	err := n.check(t)
	if err != nil {
		return nil, err
	}
	x := newNumberer(t, n)
	nodes := n.Nodes
	if len(nodes) == 0 {
		for i := range t.Nodes {
			nodes = append(nodes, t.Nodes[i].ID)
		}
	}
	nodes = slices.Compact(slices.SortedFunc(slices.Values(nodes), compareNames))
	next := make([]*bier.Node, len(nodes))
	out := &Proposal{
		Nodes:  make([]Numbered, len(nodes)),
		Change: &Change{},
	}
	highest := uint16(0)
	for i, id := range nodes {
		have, err := findNode(t, id)
		if err != nil {
			return nil, err
		}
		next[i] = cloneNode(have)
		out.Nodes[i].Node = id
		err = x.number(next[i], &out.Nodes[i])
		if err != nil {
			return nil, err
		}
	}
	for id := range x.ids {
		highest = max(highest, id)
	}
	for i := range next {
		err := x.label(next[i], &out.Nodes[i], highest)
		if err != nil {
			return nil, err
		}
	}
	return out, x.finish(out, next)
}

// check says what is wrong with the numbering itself.
func (n *Numbering) check(t *bier.Topology) error {
	d := t.Domain(n.Domain)
	switch {
	case d == nil:
		return fmt.Errorf(
			"there is no domain %d in topology %s; configure-domain creates it",
			n.Domain,
			t.ID,
		)
	case !d.Has(n.SubDomain):
		return fmt.Errorf(
			"there is no sub-domain %d of domain %d; configure-subdomain creates it",
			n.SubDomain,
			n.Domain,
		)
	case !n.BSL.Valid():
		return fmt.Errorf("bitstringlength %d is not one of %v", n.BSL, bier.BSLs)
	case n.IPv4.IsValid() && !n.IPv4.Addr().Is4():
		return fmt.Errorf("ipv4-pool %s is no IPv4 prefix", n.IPv4)
	case n.IPv6.IsValid() && !n.IPv6.Addr().Is6():
		return fmt.Errorf("ipv6-pool %s is no IPv6 prefix", n.IPv6)
	case n.LabelBase < firstOwnLabel || n.LabelBase > maxLabel:
		return fmt.Errorf(
			"label-base %d is not within %d..%d",
			n.LabelBase,
			firstOwnLabel,
			maxLabel,
		)
	}
	return nil
}

// compareNames orders r2 before r10.
func compareNames(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

func newNumberer(t *bier.Topology, n Numbering) *numberer {
	x := &numberer{
		Numbering: n,
		topology:  t,
		ids:       map[uint16]bool{},
		prefixes:  map[netip.Addr]bool{},
		igp:       n.IGP,
	}
	for i := range t.Nodes {
		d, s := t.Nodes[i].Member(n.Domain, n.SubDomain)
		if d == nil {
			continue
		}
		for _, text := range []string{d.Global.IPv4Prefix, d.Global.IPv6Prefix} {
			p, err := netip.ParsePrefix(text)
			if err == nil {
				x.prefixes[p.Addr()] = true
			}
		}
		if s == nil {
			continue
		}
		if id := bier.BFRID(d, s); id != 0 {
			x.ids[id] = true
		}
		if x.igp == "" {
			x.igp = s.IGP
		}
		if x.mt == nil {
			x.mt = s.MT
		}
	}
	if x.igp == "" {
		x.igp = "ISIS"
	}
	return x
}

// number fills in what a node does not have, but its labels.
func (x *numberer) number(n *bier.Node, out *Numbered) error {
	mergeDomain(
		n,
		&bier.NodeDomain{
			ID:     x.Domain,
			Global: bier.Global{SubDomains: []bier.SubDomain{{ID: x.SubDomain}}},
		},
	)
	d, s := n.Member(x.Domain, x.SubDomain)
	g := &d.Global
	if g.Encapsulation == "" {
		g.Encapsulation = bier.EncapsulationMPLS
	}
	if g.BSL == 0 {
		g.BSL = x.BSL
		out.New = append(out.New, "bitstringlength")
	}
	if s.IGP == "" {
		s.IGP = x.igp
		out.New = append(out.New, "igp-type")
	}
	if s.MT == nil {
		s.MT = x.mt
	}
	if bier.BFRID(d, s) == 0 {
		id, err := x.freeID()
		if err != nil {
			return err
		}
		s.BFRID = &id
		out.New = append(out.New, "bfr-id")
	}
	return x.prefix(n, g, out)
}

// freeID takes the lowest BFR-id that no member has.
func (x *numberer) freeID() (uint16, error) {
	for id := uint16(1); id != 0; id++ {
		if !x.ids[id] {
			x.ids[id] = true
			return id, nil
		}
	}
	return 0, fmt.Errorf(
		"all BFR-ids of sub-domain %d of domain %d are in use",
		x.SubDomain,
		x.Domain,
	)
}

// prefix gives a node the BFR-prefixes that it does not have.
func (x *numberer) prefix(n *bier.Node, g *bier.Global, out *Numbered) error {
	if g.IPv4Prefix == "" && g.IPv6Prefix == "" && x.reusePrefix(n, g) {
		out.New = append(out.New, "bfr-prefix")
	}
	for _, family := range []struct {
		name string
		pool netip.Prefix
		to   *string
	}{{"ipv4", x.IPv4, &g.IPv4Prefix}, {"ipv6", x.IPv6, &g.IPv6Prefix}} {
		if *family.to != "" || !family.pool.IsValid() {
			continue
		}
		p, err := x.freePrefix(family.pool)
		if err != nil {
			return fmt.Errorf("node %s: %w", n.ID, err)
		}
		*family.to = p.String()
		out.New = append(out.New, family.name+"-bfr-prefix")
	}
	if g.IPv4Prefix == "" && g.IPv6Prefix == "" {
		return fmt.Errorf(
			"node %s has no BFR-prefix and no router-id to make one of: name a pool of prefixes (ipv4-pool or ipv6-pool)",
			n.ID,
		)
	}
	return nil
}

// reusePrefix takes the BFR-prefixes that a node has in another domain, or its router-id where there is no pool.
func (x *numberer) reusePrefix(n *bier.Node, g *bier.Global) bool {
	for i := range n.Params.Domains {
		o := &n.Params.Domains[i].Global
		if o.IPv4Prefix != "" || o.IPv6Prefix != "" {
			g.IPv4Prefix, g.IPv6Prefix = o.IPv4Prefix, o.IPv6Prefix
			return true
		}
	}
	id, err := netip.ParseAddr(n.RouterID)
	if err != nil || !id.Is4() || x.IPv4.IsValid() || x.IPv6.IsValid() || x.prefixes[id] {
		return false
	}
	x.prefixes[id] = true
	g.IPv4Prefix = netip.PrefixFrom(id, 32).String()
	return true
}

// freePrefix takes the lowest host route of a pool that no node of the domain has, not that of the pool itself.
func (x *numberer) freePrefix(pool netip.Prefix) (netip.Prefix, error) {
	pool = pool.Masked()
	for a := pool.Addr().Next(); pool.Contains(a); a = a.Next() {
		last := a.Is4() && pool.Bits() < 31 && !pool.Contains(a.Next()) // the broadcast address
		if x.prefixes[a] || last {
			continue
		}
		x.prefixes[a] = true
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	return netip.Prefix{}, fmt.Errorf("the pool %s has no free address left", pool)
}

// label gives a node a label block for its length, and notes what the node has.
func (x *numberer) label(n *bier.Node, out *Numbered, highest uint16) error {
	d, s := n.Member(x.Domain, x.SubDomain)
	length := uint16(cmp.Or(s.BSL, d.Global.BSL))
	out.BFRID, out.BSL, out.IGP = bier.BFRID(d, s), length, s.IGP
	out.IPv4Prefix, out.IPv6Prefix = d.Global.IPv4Prefix, d.Global.IPv6Prefix
	if bier.LocalName(d.Global.Encapsulation) != bier.LocalName(bier.EncapsulationMPLS) {
		return nil
	}
	is := func(e bier.Encapsulation) bool { return e.BSL == length }
	for _, list := range [][]bier.Encapsulation{s.AF.IPv4, s.AF.IPv6} {
		if i := slices.IndexFunc(list, is); i >= 0 {
			out.LabelBase, out.LabelSize = list[i].Base, list[i].Size
			return nil
		}
	}
	size := labelsNeeded(bier.BSL(length), highest)
	if size > 255 {
		return fmt.Errorf(
			"node %s: %d labels are needed for bfr-id %d at bitstringlength %d, and a block has at most 255; use a larger bitstringlength",
			n.ID,
			size,
			highest,
			length,
		)
	}
	base, err := freeLabels(n, x.LabelBase, size)
	if err != nil {
		return err
	}
	block := bier.Encapsulation{
		BSL:  length,
		Base: base,
		Size: uint8(size),
	}
	if d.Global.IPv4Prefix != "" {
		s.AF.IPv4 = mergeRanges(s.AF.IPv4, []bier.Encapsulation{block})
	} else {
		s.AF.IPv6 = mergeRanges(s.AF.IPv6, []bier.Encapsulation{block})
	}
	out.LabelBase, out.LabelSize = base, uint8(size)
	out.New = append(out.New, "label-base", "label-range-size")
	return nil
}

// freeLabels finds the lowest block of labels, from a base on, that no other block of a node overlaps.
func freeLabels(n *bier.Node, base uint32, size int) (uint32, error) {
	var taken []bier.Encapsulation
	for i := range n.Params.Domains {
		for _, s := range n.Params.Domains[i].Global.SubDomains {
			taken = slices.Concat(taken, s.AF.IPv4, s.AF.IPv6)
		}
	}
	slices.SortFunc(taken, func(a, b bier.Encapsulation) int {
		return cmp.Compare(a.Base, b.Base)
	})
	for _, e := range taken {
		if e.Base+uint32(e.Size) > base && e.Base < base+uint32(size) {
			base = e.Base + uint32(e.Size)
		}
	}
	if base+uint32(size)-1 > maxLabel {
		return 0, fmt.Errorf("node %s has no %d free labels from the label-base on", n.ID, size)
	}
	return base, nil
}

// finish checks all nodes together and makes the change of those that get something.
func (x *numberer) finish(out *Proposal, next []*bier.Node) error {
	changed := map[string]bool{}
	for _, n := range next {
		changed[n.ID] = true
	}
	others := NewIndex()
	for i := range x.topology.Nodes {
		if !changed[x.topology.Nodes[i].ID] {
			others.Put(&x.topology.Nodes[i])
		}
	}
	for i, n := range next {
		found := append(CheckNode(n), others.Check(n)...)
		err := firstError(found)
		if err != nil {
			return err
		}
		others.Put(n)
		out.Change.Warnings = append(out.Change.Warnings, found...)
		_, member := x.topology.Node(n.ID).Member(x.Domain, x.SubDomain)
		if len(out.Nodes[i].New) > 0 || member == nil {
			out.Change.Nodes = append(out.Change.Nodes, *n)
		}
	}
	text, err := json.Marshal(out.Nodes)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	out.ID = hex.EncodeToString(sum[:8])
	return nil
}
