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

// plane is a simulated data plane: each router has the tables that were computed for it,
// and forwards as RFC 8279 section 6.5 says. Tunnels deliver at their ends.
type plane struct {
	g       *bier.Graph
	b       bier.BSL
	entropy uint32
	// fixed: routers have the tables of section 6.7.2, else the one of 6.7.1.
	fixed bool
	known map[string][]bier.BIFT
}

func (p *plane) table(t *testing.T, node string, si int) *bier.BIFT {
	if p.known[node] == nil {
		for _, x := range p.g.BIFTs(node, p.b) {
			if p.fixed {
				x = x.Deterministic(p.entropy)
			}
			p.known[node] = append(p.known[node], x)
		}
	}
	i := slices.IndexFunc(p.known[node], func(x bier.BIFT) bool { return x.SI == si })
	if i < 0 {
		t.Fatalf("%s has no table for set %d", node, si)
	}
	return &p.known[node][i]
}

// forward sends one packet and counts what arrives, by BFR-id. visited are the nodes that
// had a copy.
func (p *plane) forward(t *testing.T, ingress string, s bier.BitString) (arrived map[uint16]int, visited map[string]bool) {
	arrived, visited = map[uint16]int{}, map[string]bool{}
	if p.known == nil {
		p.known = map[string][]bier.BIFT{}
	}
	for queue := []packet{{ingress, slices.Clone(s.Bits), 0}}; len(queue) > 0; queue = queue[1:] {
		x := queue[0]
		visited[x.node] = true
		if x.hops > len(p.g.Members) {
			t.Fatalf("a copy loops at %s", x.node)
		}
		for {
			ids := idsOf(bier.BitString{SI: s.SI, Bits: x.bits})
			if len(ids) == 0 {
				break
			}
			entries := p.table(t, x.node, s.SI).Entries
			j := slices.IndexFunc(entries, func(e bier.BIFTEntry) bool { return e.ID == ids[0] })
			if j < 0 {
				t.Fatalf("%s has no entry for %d", x.node, ids[0])
			}
			n := entries[j].Neighbor(p.entropy)
			out := make([]byte, len(x.bits))
			for k := range out {
				out[k] = x.bits[k] & n.FBM.Bits[k]
				x.bits[k] &^= n.FBM.Bits[k]
			}
			if n.Node == x.node {
				arrived[entries[j].ID]++
				continue
			}
			queue = append(queue, packet{n.Node, out, x.hops + 1})
		}
	}
	return arrived, visited
}

// Every egress gets exactly one copy, no other router any, whatever the network: with
// equal ways, routers that are no BFRs, BFRs without an id, and other lengths than the rest.
func TestEveryEgressGetsExactlyOneCopy(t *testing.T) {
	for seed := range int64(120) {
		r := rand.New(rand.NewSource(seed))
		n := 4 + r.Intn(100)
		top := network(n, r.Intn(2*n), seed)
		b := []bier.BSL{64, 256}[r.Intn(2)]
		if seed%2 == 0 {
			spoil(top, r)
		}
		g := bier.NewGraph(top, 1, 1)
		ingress := g.Members[slices.IndexFunc(g.Members, func(m bier.Member) bool { return m.ID != 0 })]
		c := bier.Channel{DomainID: 1, SubDomainID: 1, IngressNode: ingress.Node}
		top.Node(ingress.Node).Params.Domains[0].Global.BSL = b
		for _, m := range g.Members {
			if m.Node != ingress.Node && r.Intn(3) == 0 {
				c.EgressNodes = append(c.EgressNodes, bier.EgressNode{ID: m.Node})
			}
		}
		if len(c.EgressNodes) == 0 {
			continue
		}
		plan, err := bier.PlanChannel(top, &c)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want := map[uint16]int{}
		for _, w := range plan.Egress {
			if w.Err == nil {
				want[w.ID] = 1
			}
		}
		for entropy := range uint32(3) {
			for _, fixed := range []bool{false, true} {
				p, got := &plane{g: g, b: b, entropy: entropy, fixed: fixed}, map[uint16]int{}
				for _, s := range plan.BitStrings {
					arrived, visited := p.forward(t, ingress.Node, s)
					for id, copies := range arrived {
						got[id] += copies
					}
					for node := range visited {
						if _, ok := g.Member(node); !ok {
							t.Fatalf("seed %d: %s, which is no BFR, got a BIER packet", seed, node)
						}
					}
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("seed %d: copies by bfr-id %v, want %v", seed, got, want)
				}
			}
		}
	}
}

// spoil takes nodes out of the sub-domain, takes BFR-ids away, and label ranges of a length.
func spoil(top *bier.Topology, r *rand.Rand) {
	for i := range top.Nodes[1:] { // one stays whole
		d := &top.Nodes[i+1].Params.Domains
		switch r.Intn(8) {
		case 0:
			*d = nil
		case 1:
			(*d)[0].Global.BFRID = nil
		case 2:
			af := &(*d)[0].Global.SubDomains[0].AF
			af.IPv4 = af.IPv4[r.Intn(2):][:1]
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
