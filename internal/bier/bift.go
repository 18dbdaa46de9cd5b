package bier

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// BIFT is a node's forwarding table for one set (RFC 8279 section 6.4). With equal ways it
// is that of section 6.7.1: the masks of neighbours may overlap.
type BIFT struct {
	BSL     BSL
	SI      int
	Entries []BIFTEntry // in ascending order of BFR-id
}

// BIFTEntry is the way to one BFR-id.
type BIFTEntry struct {
	ID   uint16
	Node string
	// Neighbors are those with a way of the least distance, in ascending order of their
	// node-ids; the node itself for its own bit. Entries share them.
	Neighbors []Neighbor
}

// Neighbor is a next BFR.
type Neighbor struct {
	Node string
	// Via are the nodes in between, which are no BFRs: the packet goes to Node in a tunnel
	// (RFC 8279 section 6.9). Empty: it is adjacent.
	Via []string
	FBM BitString // the bits of all BFERs that it is a neighbour for
}

// Neighbor is the one that packets of an entropy go to.
func (e *BIFTEntry) Neighbor(entropy uint32) *Neighbor {
	return &e.Neighbors[int(entropy)%len(e.Neighbors)]
}

// Deterministic is the table that entropy k selects of those of RFC 8279 section 6.7.2: one
// neighbour for each entry, whose masks do not overlap.
func (t *BIFT) Deterministic(k uint32) BIFT {
	out := BIFT{
		BSL:     t.BSL,
		SI:      t.SI,
		Entries: make([]BIFTEntry, 0, len(t.Entries)),
	}
	chosen := map[string][]Neighbor{}
	for i := range t.Entries {
		e := &t.Entries[i]
		n := e.Neighbor(k)
		if chosen[n.Node] == nil {
			chosen[n.Node] = []Neighbor{{n.Node, n.Via, BitString{t.SI, make([]byte, t.BSL/8)}}}
		}
		setBit(chosen[n.Node][0].FBM.Bits, t.BSL.Bit(e.ID))
		out.Entries = append(out.Entries, BIFTEntry{e.ID, e.Node, chosen[n.Node]})
	}
	return out
}

// BIFTs computes the forwarding tables of a member for a length, one for each set
// in use, in their order. Members that cannot be reached, or that do not take the length,
// have no entry.
func (g *Graph) BIFTs(node string, b BSL) []BIFT {
	if _, ok := g.Member(node); !ok {
		return nil
	}
	return g.newTables(b, g.bslTakers(b)).memberBIFTs(g.index[node])
}

// AllBIFTs computes the forwarding tables of all members, on all processors, and
// hands each to f, which is called from several goroutines at the same time. i is an
// index of Members.
func (g *Graph) AllBIFTs(b BSL, f func(i int, tables []BIFT)) {
	var next atomic.Int64
	var all sync.WaitGroup
	bfr := g.bslTakers(b)
	for range min(runtime.GOMAXPROCS(0), len(g.Members)) {
		all.Go(func() {
			t := g.newTables(b, bfr)
			for i := next.Add(1) - 1; i < int64(len(g.Members)); i = next.Add(1) - 1 {
				f(int(i), t.memberBIFTs(int32(i)))
			}
		})
	}
	all.Wait()
}

// tables computes forwarding tables, one member after the other.
type tables struct {
	b BSL
	spf
	masks []BitString // of the set that is filled, by neighbour
	used  []int32     // neighbours that have one
	known map[int32][]Neighbor
}

func (g *Graph) newTables(b BSL, bfr []bool) *tables {
	return &tables{
		b:     b,
		spf:   spf{g: g, bfr: bfr},
		masks: make([]BitString, len(g.Members)),
		known: map[int32][]Neighbor{},
	}
}

// memberBIFTs returns the tables of one member. Members come in ascending order of BFR-id, so
// that one set after the other is filled.
func (t *tables) memberBIFTs(root int32) []BIFT {
	t.computeTree(root)
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
		if entries := t.fillSetBIFT(root, si, list[:n]); len(entries) > 0 {
			out = append(out, BIFT{
				BSL:     t.b,
				SI:      si,
				Entries: entries,
			})
		}
		list = list[n:]
	}
	return out
}

// fillSetBIFT fills the table of one set: first the masks, then the entries that share them.
func (t *tables) fillSetBIFT(root int32, si int, list []int32) []BIFTEntry {
	members := t.g.Members
	reached := 0
	for _, i := range list {
		if !t.hasEntry(i) {
			continue
		}
		reached++
		for _, hop := range t.sets.setMembers(t.hops[i]) {
			if t.masks[hop].Bits == nil {
				t.masks[hop] = BitString{si, make([]byte, t.b/8)}
				t.used = append(t.used, hop)
			}
			setBit(t.masks[hop].Bits, t.b.Bit(members[i].ID))
		}
	}
	entries := make([]BIFTEntry, 0, reached)
	for _, i := range list {
		if t.hasEntry(i) {
			entries = append(
				entries,
				BIFTEntry{members[i].ID, members[i].Node, t.setNeighbors(root, t.hops[i])},
			)
		}
	}
	for _, hop := range t.used {
		t.masks[hop] = BitString{}
	}
	t.used = t.used[:0]
	clear(t.known)
	return entries
}

// hasEntry reports whether the member has an entry.
func (t *tables) hasEntry(i int32) bool {
	return t.dist[i] != unreached && t.bfr[i]
}

func (t *tables) setNeighbors(root, set int32) []Neighbor {
	if out := t.known[set]; out != nil {
		return out
	}
	hops := t.sets.setMembers(set)
	out := make([]Neighbor, len(hops))
	for k, hop := range hops {
		out[k] = Neighbor{t.g.nodeID(hop), nil, t.masks[hop]}
		if hop != root {
			out[k].Via = t.viaVertices(root, hop)
		}
	}
	t.known[set] = out
	return out
}

// BIFTID is the first field of the header of packets for a member (RFC 8296 section 2.1.1):
// with MPLS the label that the member announces for a set, IPv4's where both families have
// one; with any other encapsulation the number that is the same in the whole domain, coded
// from length, sub-domain and set (draft-ietf-bier-non-mpls-bift-encoding-04). False: it
// has none for that set.
func BIFTID(d *NodeDomain, s *SubDomain, b BSL, si int) (uint32, bool) {
	if !MPLS(d) {
		return uint32(slices.Index(BSLs, b)+1)<<16 | uint32(s.ID)<<8 | uint32(si), b.Valid() && s.ID <= MaxSI && si <= MaxSI
	}
	for _, e := range slices.Concat(s.AF.IPv4, s.AF.IPv6) {
		if BSL(e.BSL) == b && si < int(e.Size) {
			return e.Base + uint32(si), true
		}
	}
	return 0, false
}

// MPLS reports whether a node's encapsulation in a domain is MPLS, which is the default.
func MPLS(d *NodeDomain) bool {
	return d.Global.Encapsulation == "" ||
		LocalName(d.Global.Encapsulation) == LocalName(EncapsulationMPLS)
}
