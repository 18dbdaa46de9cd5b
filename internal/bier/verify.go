package bier

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// ReadTable is a forwarding table as a router uses it.
type ReadTable struct {
	SubDomain int // -1: the router does not tell
	BSL       BSL
	SI        int
	Own       []byte // bits that it delivers itself; nil: not told
	Neighbors []ReadNeighbor
}

// ReadNeighbor is a next hop as the router names it.
type ReadNeighbor struct {
	Name string
	FBM  []byte
}

// CompareTables says how a node's tables differ from those computed for it. Where ways are
// equal, each of them is right. A router's neighbours are not known by node-id, so each must
// be possible: all its bits must go to one computed neighbour.
func CompareTables(node string, computed []BIFT, read *ReadTable) (differences []string) {
	i := slices.IndexFunc(computed, func(x BIFT) bool { return x.BSL == read.BSL && x.SI == read.SI })
	var want BIFT
	if i >= 0 {
		want = computed[i]
	}
	say := func(format string, args ...any) {
		differences = append(differences, fmt.Sprintf("length %d, set %d: ", read.BSL, read.SI)+fmt.Sprintf(format, args...))
	}
	all := make([]byte, read.BSL/8)
	for _, n := range read.Neighbors {
		or(all, n.FBM)
		if len(n.FBM) == len(all) && !possible(&want, n.FBM) {
			say("the bits of BFR-ids %s go to neighbour %s; computed is no neighbour for all of them", ids(read, n.FBM), n.Name)
		}
	}
	or(all, read.Own)
	for _, e := range want.Entries {
		own := e.Node == node
		if (!own || read.Own != nil) && !has(all, want.BSL.Bit(e.ID)) {
			say("there is no way to BFR-id %d (%s); computed is %s", e.ID, e.Node, names(e.Neighbors))
		}
		clearBit(all, want.BSL.Bit(e.ID))
	}
	if left := ids(read, all); left != "" {
		say("the router has ways to BFR-ids %s, which no node of the topology has that can be reached", left)
	}
	return differences
}

// possible reports whether one computed neighbour has all these bits.
func possible(want *BIFT, mask []byte) bool {
	if !slices.ContainsFunc(mask, func(b byte) bool { return b != 0 }) {
		return true
	}
	for _, e := range want.Entries {
		for _, n := range e.Neighbors {
			rest := slices.Clone(mask)
			for k := range rest {
				rest[k] &^= n.FBM.Bits[k]
			}
			if !slices.ContainsFunc(rest, func(b byte) bool { return b != 0 }) {
				return true
			}
		}
	}
	return false
}

func names(list []Neighbor) string {
	var out []string
	for _, n := range list {
		x := n.Node
		if len(n.Via) > 0 {
			x += " in a tunnel over " + strings.Join(n.Via, " ")
		}
		out = append(out, x)
	}
	return strings.Join(out, " or ")
}

// ids are the BFR-ids of bits.
func ids(t *ReadTable, mask []byte) string {
	var out []string
	for i := range mask {
		for v := mask[len(mask)-1-i]; v != 0; v &= v - 1 {
			out = append(out, fmt.Sprint(t.SI*int(t.BSL)+i*8+bits.TrailingZeros8(v)+1))
		}
	}
	return strings.Join(out, ", ")
}

func or(to, from []byte) {
	if len(to) == len(from) {
		for i := range to {
			to[i] |= from[i]
		}
	}
}

func has(s []byte, bit int) bool {
	i := len(s) - 1 - (bit-1)/8
	return i >= 0 && s[i]&(1<<((bit-1)%8)) != 0
}

func clearBit(s []byte, bit int) {
	if i := len(s) - 1 - (bit-1)/8; i >= 0 {
		s[i] &^= 1 << ((bit - 1) % 8)
	}
}
