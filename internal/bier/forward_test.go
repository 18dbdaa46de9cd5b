package bier_test

import (
	"fmt"
	"math/rand"
	"slices"
	"sync/atomic"
	"testing"

	"ctl.internal/internal/bier"
)

// packet is a copy on its way.
type packet struct {
	node string
	bits []byte
	hops int
}

// forward follows RFC 8279 section 6.5 at every router and counts what arrives.
func forward(t *testing.T, g *bier.Graph, b bier.BSL, ingress string, s bier.BitString, tables map[string][]bier.BIFT) map[uint16]int {
	arrived := map[uint16]int{}
	queue := []packet{{ingress, slices.Clone(s.Bits), 0}}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		if p.hops > len(g.Members) {
			t.Fatalf("a copy loops at %s", p.node)
		}
		if tables[p.node] == nil {
			tables[p.node] = g.BIFTs(p.node, b)
		}
		i := slices.IndexFunc(tables[p.node], func(x bier.BIFT) bool { return x.SI == s.SI })
		for {
			ids := idsOf(bier.BitString{SI: s.SI, Bits: p.bits})
			if len(ids) == 0 {
				break
			}
			j := slices.IndexFunc(tables[p.node][i].Entries, func(e bier.BIFTEntry) bool { return e.ID == ids[0] })
			e := tables[p.node][i].Entries[j]
			out := make([]byte, len(p.bits))
			for k := range out {
				out[k] = p.bits[k] & e.FBM.Bits[k]
				p.bits[k] &^= e.FBM.Bits[k]
			}
			if e.Neighbor == p.node {
				arrived[e.ID]++
				continue
			}
			queue = append(queue, packet{e.Neighbor, out, p.hops + 1})
		}
	}
	return arrived
}

// Every egress gets exactly one copy, nobody else any, whatever the network.
func TestEveryEgressGetsExactlyOneCopy(t *testing.T) {
	for seed := range int64(40) {
		r := rand.New(rand.NewSource(seed))
		n := 2 + r.Intn(120)
		top := network(n, r.Intn(2*n), seed)
		g := bier.NewGraph(top, 1, 1)
		b := []bier.BSL{64, 256}[r.Intn(2)]
		ingress := g.Members[r.Intn(n)]
		want := map[uint16]int{}
		var ids []uint16
		for _, m := range g.Members {
			if m.Node != ingress.Node && r.Intn(3) == 0 {
				want[m.ID] = 1
				ids = append(ids, m.ID)
			}
		}
		got := map[uint16]int{}
		tables := map[string][]bier.BIFT{}
		for _, s := range bier.BitStrings(b, ids) {
			for id, copies := range forward(t, g, b, ingress.Node, s, tables) {
				got[id] += copies
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: copies by bfr-id %v, want %v", seed, got, want)
		}
	}
}

func TestBitStrings(t *testing.T) {
	for _, c := range []struct {
		b    bier.BSL
		ids  []uint16
		want string
	}{
		{64, []uint16{1}, "0:01"},
		{64, []uint16{2, 3, 1}, "0:07"},
		{64, []uint16{64, 65}, "0:8000000000000000 1:01"},
		{256, []uint16{1, 256, 257, 65535}, "0:8000000000000000000000000000000000000000000000000000000000000001 1:01 255:4000000000000000000000000000000000000000000000000000000000000000"},
		{4096, []uint16{0}, ""},
	} {
		got := ""
		for i, s := range bier.BitStrings(c.b, c.ids) {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%d:%s", s.SI, s.Hex())
		}
		if got != c.want {
			t.Errorf("%d %v: %s, want %s", c.b, c.ids, got, c.want)
		}
	}
	var all []uint16
	for i := range 65535 {
		all = append(all, uint16(i+1))
	}
	for _, b := range bier.BSLs {
		var back []uint16
		sets := bier.BitStrings(b, all)
		for _, s := range sets {
			back = append(back, idsOf(s)...)
		}
		if !slices.Equal(all, back) || len(sets) != (65535-1)/int(b)+1 {
			t.Errorf("bitstringlength %d: %d copies, ids differ: %v", b, len(sets), !slices.Equal(all, back))
		}
	}
}

func BenchmarkBIFT1000(b *testing.B) {
	top := network(1000, 1000, 1)
	for b.Loop() {
		var entries atomic.Int64
		bier.NewGraph(top, 1, 1).AllBIFTs(256, func(_ int, tables []bier.BIFT) {
			for _, x := range tables {
				entries.Add(int64(len(x.Entries)))
			}
		})
		if entries.Load() != 1000*1000 {
			b.Fatalf("%d entries", entries.Load())
		}
	}
}
