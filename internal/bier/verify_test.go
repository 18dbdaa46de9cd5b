package bier_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
)

// unknown is a router whose names of neighbours say nothing.
func unknown(string) string { return "" }

// asRead is a table as a router shows it, which uses one of the equal ways.
func asRead(node string, x bier.BIFT, k uint32) *bierdriver.Forwarding {
	out := &bierdriver.Forwarding{Bitstringlength: uint32(x.BSL), Si: uint32(x.SI), Own: make([]byte, x.BSL/8)}
	for _, e := range x.Deterministic(k).Entries {
		n := e.Neighbors[0]
		if n.Node == node {
			copy(out.Own, n.FBM.Bits)
		} else if !slices.ContainsFunc(out.Neighbors, func(r *bierdriver.Neighbor) bool { return r.Name == n.Node }) {
			out.Neighbors = append(out.Neighbors, &bierdriver.Neighbor{Name: n.Node, FBm: slices.Clone(n.FBM.Bits)})
		}
	}
	return out
}

// A router that uses any of the equal ways is as computed; a bit that is lost, that goes to
// another neighbour, or that no node has is named.
func TestTablesOfRoutersAreCompared(t *testing.T) {
	lost, moved, foreign := 0, 0, 0
	for seed := range int64(60) {
		top := network(10+int(seed), 20, seed)
		g := bier.NewGraph(top, 1, 1)
		node := g.Members[seed%10].Node
		computed := g.BIFTs(node, 64)
		for k := range uint32(3) {
			if d := bier.CompareTables(node, computed, asRead(node, computed[0], k), unknown); len(d) > 0 {
				t.Fatalf("seed %d: %v", seed, d)
			}
		}
		r := rand.New(rand.NewSource(seed))
		read := asRead(node, computed[0], 0)
		i := r.Intn(len(read.Neighbors))
		n := read.Neighbors[i]
		id := idsOf(bier.BitString{SI: int(read.Si), Bits: n.FBm})[0]
		bit := bier.BSL(64).Bit(id)
		n.FBm[len(n.FBm)-1-(bit-1)/8] &^= 1 << ((bit - 1) % 8)
		if d := bier.CompareTables(node, computed, read, unknown); len(d) == 1 && strings.Contains(d[0], fmt.Sprintf("no way to BFR-id %d (", id)) {
			lost++
		} else {
			t.Fatalf("seed %d: a lost bit: %v", seed, d)
		}
		if len(read.Neighbors) > 1 { // it goes to the next neighbour, where that is not one of the equal ones
			o := read.Neighbors[(i+1)%len(read.Neighbors)]
			o.FBm[len(o.FBm)-1-(bit-1)/8] |= 1 << ((bit - 1) % 8)
			e := computed[0].Entries[slices.IndexFunc(computed[0].Entries, func(e bier.BIFTEntry) bool { return e.ID == id })]
			if !slices.ContainsFunc(e.Neighbors, func(n bier.Neighbor) bool { return n.Node == o.Name }) {
				if d := bier.CompareTables(node, computed, read, unknown); len(d) != 1 || !strings.Contains(d[0], "computed is no neighbour for all of them") {
					t.Fatalf("seed %d: a moved bit: %v", seed, d)
				}
				moved++
			}
		}
		if len(g.Members) < 64 {
			read = asRead(node, computed[0], 0)
			read.Neighbors[0].FBm[0] |= 0x80 // BFR-id 64
			if d := bier.CompareTables(node, computed, read, unknown); !strings.Contains(strings.Join(d, "\n"), "ways to BFR-ids 64, which no node") {
				t.Fatalf("seed %d: a foreign bit: %v", seed, d)
			}
			foreign++
		}
	}
	if lost == 0 || moved == 0 || foreign == 0 {
		t.Errorf("%d lost, %d moved, %d foreign", lost, moved, foreign)
	}
}
