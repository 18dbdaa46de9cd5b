package bier

import (
	"cmp"
	"slices"
)

// BIFT is a node's forwarding table for one set (RFC 8279 section 6.4).
type BIFT struct {
	BSL     BSL
	SI      int
	Entries []BIFTEntry // in ascending order of BFR-id
}

// BIFTEntry is the way to one BFR-id. FBM is shared by all entries with the same
// neighbour.
type BIFTEntry struct {
	ID       uint16
	Node     string
	Neighbor string // next hop; the node itself for its own bit
	FBM      BitString
}

// BIFTs computes the forwarding tables of a member for a length, one for each set
// in use. Members that cannot be reached have no entry.
func (g *Graph) BIFTs(node string, b BSL) []BIFT {
	if _, ok := g.index[node]; !ok {
		return nil
	}
	hops := g.Tree(node).hops()
	type via struct {
		si   int
		next int64
	}
	masks := map[via][]byte{}
	sets := map[int]*BIFT{}
	for _, i := range g.byID {
		m, next := &g.Members[i], hops[i]
		if m.ID == 0 || next < 0 {
			continue
		}
		si := b.SI(m.ID)
		mask := masks[via{si, next}]
		if mask == nil {
			mask = make([]byte, b/8)
			masks[via{si, next}] = mask
		}
		set(mask, b.Bit(m.ID))
		if sets[si] == nil {
			sets[si] = &BIFT{BSL: b, SI: si, Entries: make([]BIFTEntry, 0, min(int(b), len(g.Members)))}
		}
		sets[si].Entries = append(sets[si].Entries, BIFTEntry{m.ID, m.Node, g.Members[next].Node, BitString{si, mask}})
	}
	out := make([]BIFT, 0, len(sets))
	for _, t := range sets {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(x, y BIFT) int { return cmp.Compare(x.SI, y.SI) })
	return out
}

// hops returns the next hop to each member, the node itself for itself, -1 where
// there is no way.
func (t *Tree) hops() []int64 {
	const unknown, unreachable = -2, -1
	hops := make([]int64, len(t.g.Members))
	for i := range hops {
		hops[i] = unknown
	}
	hops[t.from] = t.from
	for i := range hops {
		if hops[i] != unknown {
			continue
		}
		way, _ := t.shortest.To(int64(i))
		if len(way) < 2 {
			hops[i] = unreachable
			continue
		}
		for _, n := range way[1:] { // they lie in the same branch of the tree
			hops[n.ID()] = way[1].ID()
		}
	}
	return hops
}
