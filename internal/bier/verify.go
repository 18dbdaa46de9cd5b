package bier

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"ctl.internal/sdk/bierdriver"
)

// CompareTables says how a node's tables differ from those computed for it. Where ways are
// equal, each of them is right. nodeOf is the node-id of a neighbour as the router names it, "": not
// known; then all of its bits must go to one computed neighbour.
func CompareTables(
	node string,
	computed []BIFT,
	read *bierdriver.Forwarding,
	nodeOf func(name string) string,
) (differences []string) {
	b, si := BSL(read.Bitstringlength), int(read.Si)
	i := slices.IndexFunc(computed, func(x BIFT) bool { return x.BSL == b && x.SI == si })
	var want BIFT
	if i >= 0 {
		want = computed[i]
	}
	say := func(format string, args ...any) {
		differences = append(
			differences,
			fmt.Sprintf("length %d, set %d: ", b, si)+fmt.Sprintf(format, args...),
		)
	}
	all := make([]byte, b/8)
	for _, n := range read.Neighbors {
		orBits(all, n.FBm)
		to := nodeOf(n.Name)
		if len(n.FBm) == len(all) && !isPossibleNeighbor(&want, to, n.FBm) {
			name := n.Name
			if to != "" {
				name += " (" + to + ")"
			}
			say(
				"the bits of BFR-ids %s go to neighbour %s; computed is %s",
				formatBFRIDs(b, si, n.FBm),
				name,
				want.computedInstead(to, n.FBm),
			)
		}
	}
	orBits(all, read.Own)
	for _, e := range want.Entries {
		own := e.Node == node
		if (!own || read.Own != nil) && !hasBit(all, want.BSL.Bit(e.ID)) {
			say(
				"there is no way to BFR-id %d (%s); computed is %s",
				e.ID,
				e.Node,
				formatNeighbors(e.Neighbors),
			)
		}
		clearBit(all, want.BSL.Bit(e.ID))
	}
	if left := formatBFRIDs(b, si, all); left != "" {
		say(
			"the router has ways to BFR-ids %s, which no node of the topology has that can be reached",
			left,
		)
	}
	return differences
}

// computedInstead is what is computed where a router has another neighbour.
func (x *BIFT) computedInstead(node string, mask []byte) string {
	if node == "" {
		return "no neighbour for all of them"
	}
	var out []string
	for _, e := range x.Entries {
		if hasBit(mask, x.BSL.Bit(e.ID)) &&
			!slices.ContainsFunc(e.Neighbors, func(n Neighbor) bool {
				return n.Node == node
			}) {
			out = append(out, fmt.Sprintf("%s for BFR-id %d", formatNeighbors(e.Neighbors), e.ID))
		}
	}
	if out == nil {
		return "nothing for some of them"
	}
	return strings.Join(out, ", ")
}

// isPossibleNeighbor reports whether one computed neighbour, the one that the router names where it is
// known, has all these bits.
func isPossibleNeighbor(want *BIFT, node string, mask []byte) bool {
	if !slices.ContainsFunc(mask, func(b byte) bool { return b != 0 }) {
		return true
	}
	for _, e := range want.Entries {
		for _, n := range e.Neighbors {
			if (node == "" || node == n.Node) && covers(n.FBM.Bits, mask) {
				return true
			}
		}
	}
	return false
}

func formatNeighbors(list []Neighbor) string {
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

// formatBFRIDs are the BFR-ids of bits.
func formatBFRIDs(b BSL, si int, mask []byte) string {
	var out []string
	for i := range mask {
		for v := mask[len(mask)-1-i]; v != 0; v &= v - 1 {
			out = append(out, fmt.Sprint(si*int(b)+i*8+bits.TrailingZeros8(v)+1))
		}
	}
	return strings.Join(out, ", ")
}

func orBits(to, from []byte) {
	if len(to) == len(from) {
		for i := range to {
			to[i] |= from[i]
		}
	}
}

func hasBit(s []byte, bit int) bool {
	i := len(s) - 1 - (bit-1)/8
	return i >= 0 && s[i]&(1<<((bit-1)%8)) != 0
}

func clearBit(s []byte, bit int) {
	if i := len(s) - 1 - (bit-1)/8; i >= 0 {
		s[i] &^= 1 << ((bit - 1) % 8)
	}
}
