package bier

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// ReadTable is a forwarding table as a router uses it.
type ReadTable struct {
	SubDomain int // -1: the router does not say
	BSL       BSL
	SI        int
	Own       []byte // bits that it delivers itself; nil: not known
	Neighbors []ReadNeighbor
}

// ReadNeighbor is a next hop as the router names it.
type ReadNeighbor struct {
	Name string
	Node string // node-id, "": not known
	FBM  []byte
}

// CompareTables says how a node's tables differ from those computed for it. Where ways are
// equal, each of them is right. Of a neighbour that is not known by node-id all bits must go
// to one computed neighbour.
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
		if len(n.FBM) == len(all) && !possible(&want, &n) {
			say("the bits of BFR-ids %s go to neighbour %s; computed is %s", ids(read, n.FBM), n.says(), want.instead(&n))
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

func (n *ReadNeighbor) says() string {
	if n.Node == "" {
		return n.Name
	}
	return n.Name + " (" + n.Node + ")"
}

// instead is what is computed where a router has another neighbour.
func (x *BIFT) instead(read *ReadNeighbor) string {
	if read.Node == "" {
		return "no neighbour for all of them"
	}
	var out []string
	for _, e := range x.Entries {
		if has(read.FBM, x.BSL.Bit(e.ID)) && !slices.ContainsFunc(e.Neighbors, func(n Neighbor) bool { return n.Node == read.Node }) {
			out = append(out, fmt.Sprintf("%s for BFR-id %d", names(e.Neighbors), e.ID))
		}
	}
	if out == nil {
		return "nothing for some of them"
	}
	return strings.Join(out, ", ")
}

// possible reports whether one computed neighbour, the one that the router names where it is
// known, has all these bits.
func possible(want *BIFT, read *ReadNeighbor) bool {
	mask := read.FBM
	if !slices.ContainsFunc(mask, func(b byte) bool { return b != 0 }) {
		return true
	}
	for _, e := range want.Entries {
		for _, n := range e.Neighbors {
			if read.Node != "" && read.Node != n.Node {
				continue
			}
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
