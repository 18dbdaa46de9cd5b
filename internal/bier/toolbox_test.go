package bier_test

import (
	"fmt"
	"math/bits"
	"math/rand"

	"ctl.internal/internal/bier"
)

func ref[T any](v T) *T { return &v }

// network is a connected topology of n routers, all in sub-domain 1 of domain 1,
// with BFR-ids 1..n shuffled, labels for two lengths, and some links besides a tree.
func network(n, extra int, seed int64) *bier.Topology {
	r := rand.New(rand.NewSource(seed))
	t := &bier.Topology{ID: "flow:1", Domains: []bier.Domain{{ID: 1, SubDomains: []bier.SubDomainRef{{ID: 0}, {ID: 1}}}}}
	ids := r.Perm(n)
	for i := range n {
		t.Nodes = append(t.Nodes, bier.Node{ID: fmt.Sprintf("n%05d", i), Params: bier.NodeParams{Domains: []bier.NodeDomain{{ID: 1, Global: bier.Global{
			Encapsulation: bier.EncapsulationMPLS, BSL: 256, BFRID: ref(uint16(ids[i] + 1)), IPv4Prefix: fmt.Sprintf("10.%d.%d.1/32", i/250, i%250),
			SubDomains: []bier.SubDomain{{ID: 1, IGP: "ISIS", MT: ref(uint16(0)), AF: bier.AF{IPv4: []bier.Encapsulation{
				{BSL: 64, Base: 1000, Size: 200}, {BSL: 256, Base: 2000, Size: 200}}}}},
		}}}}})
	}
	link := func(a, b int) {
		for _, x := range [][2]int{{a, b}, {b, a}} {
			t.Links = append(t.Links, bier.Link{ID: fmt.Sprintf("%d-%d-%d", x[0], x[1], len(t.Links)), Metric: uint64(r.Intn(4)),
				Source: bier.LinkFrom{Node: t.Nodes[x[0]].ID}, Dest: bier.LinkTo{Node: t.Nodes[x[1]].ID}})
		}
	}
	for i := 1; i < n; i++ {
		link(i, r.Intn(i))
	}
	for range extra {
		if a, b := r.Intn(n), r.Intn(n); a != b {
			link(a, b)
		}
	}
	t.Sort()
	return t
}

// idsOf returns the BFR-ids of the bits that are set, ascending.
func idsOf(s bier.BitString) []uint16 {
	var out []uint16
	n := len(s.Bits)
	for i := range s.Bits {
		for v := s.Bits[n-1-i]; v != 0; v &= v - 1 {
			out = append(out, uint16(s.SI*n*8+i*8+bits.TrailingZeros8(v)+1))
		}
	}
	return out
}
