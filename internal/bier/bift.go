package bier

import (
	"runtime"
	"sync"
	"sync/atomic"
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
// in use, in their order. Members that cannot be reached have no entry.
func (g *Graph) BIFTs(node string, b BSL) []BIFT {
	root, ok := g.index[node]
	if !ok {
		return nil
	}
	return g.newTables(b).of(root)
}

// AllBIFTs computes the forwarding tables of all members, on all processors, and
// hands each to f, which is called from several goroutines at the same time. i is an
// index of Members.
func (g *Graph) AllBIFTs(b BSL, f func(i int, tables []BIFT)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(g.Members)) {
		all.Go(func() {
			t := g.newTables(b)
			for i := next.Add(1) - 1; i < int64(len(g.Members)); i = next.Add(1) - 1 {
				f(int(i), t.of(int32(i)))
			}
		})
	}
	all.Wait()
}

// tables computes forwarding tables, one member after the other.
type tables struct {
	g *Graph
	b BSL
	spf
	masks []BitString // of the set that is filled, by next hop
	used  []int32     // next hops that have one
}

func (g *Graph) newTables(b BSL) *tables {
	return &tables{g: g, b: b, masks: make([]BitString, len(g.Members))}
}

// of returns the tables of one member. Members come in ascending order of BFR-id, so
// that one set after the other is filled.
func (t *tables) of(root int32) []BIFT {
	t.run(t.g, root)
	members := t.g.Members
	var out []BIFT
	list := t.g.byID
	for len(list) > 0 && members[list[0]].ID == 0 {
		list = list[1:]
	}
	for len(list) > 0 {
		si := t.b.SI(members[list[0]].ID)
		n := 0
		for n < len(list) && t.b.SI(members[list[n]].ID) == si {
			n++
		}
		if entries := t.set(si, list[:n]); len(entries) > 0 {
			out = append(out, BIFT{BSL: t.b, SI: si, Entries: entries})
		}
		list = list[n:]
	}
	return out
}

// set fills the table of one set.
func (t *tables) set(si int, list []int32) []BIFTEntry {
	members := t.g.Members
	entries := make([]BIFTEntry, 0, len(list))
	for _, i := range list {
		if t.dist[i] == unreached {
			continue
		}
		hop := t.hop[i]
		if t.masks[hop].Bits == nil {
			t.masks[hop] = BitString{si, make([]byte, t.b/8)}
			t.used = append(t.used, hop)
		}
		m := &members[i]
		set(t.masks[hop].Bits, t.b.Bit(m.ID))
		entries = append(entries, BIFTEntry{m.ID, m.Node, members[hop].Node, t.masks[hop]})
	}
	for _, hop := range t.used {
		t.masks[hop] = BitString{}
	}
	t.used = t.used[:0]
	return entries
}
