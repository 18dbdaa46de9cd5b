package bier_test

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"ctl.internal/internal/bier"
)

// drawn is a topology as one draws it: "a-b" is a link of metric 10 in both directions, ids
// are the BFR-ids of those that are BFRs, 0 for transit only; lengths by node, 64 when absent.
func drawn(links string, ids map[string]uint16, lengths map[string][]uint16) *bier.Topology {
	t := &bier.Topology{ID: "x", Domains: []bier.Domain{{ID: 1, SubDomains: []bier.SubDomainRef{{ID: 0}}}}}
	nodes := map[string]bool{}
	for l := range strings.FieldsSeq(links) {
		a, b, _ := strings.Cut(l, "-")
		nodes[a], nodes[b] = true, true
		for _, x := range [][2]string{{a, b}, {b, a}} {
			t.Links = append(t.Links, bier.Link{ID: x[0] + "-" + x[1], Metric: 10, Source: bier.LinkFrom{Node: x[0]}, Dest: bier.LinkTo{Node: x[1]}})
		}
	}
	for node := range nodes {
		n := bier.Node{ID: node}
		if id, ok := ids[node]; ok {
			s := bier.SubDomain{ID: 0, IGP: "ISIS"}
			takes := lengths[node]
			if takes == nil {
				takes = []uint16{64}
			}
			for i, b := range takes {
				s.AF.IPv4 = append(s.AF.IPv4, bier.Encapsulation{BSL: b, Base: uint32(100 * (i + 1)), Size: 4})
			}
			n.Params.Domains = []bier.NodeDomain{{ID: 1, Global: bier.Global{BSL: bier.BSL(takes[0]), BFRID: &id, SubDomains: []bier.SubDomain{s}}}}
		}
		t.Nodes = append(t.Nodes, n)
	}
	t.Sort()
	return t
}

// shown is the tables of a node: neighbours with their masks, T for a tunnel and its way.
func shown(tables []bier.BIFT) string {
	var sets []string
	for _, x := range tables {
		masks := map[string]string{}
		for _, e := range x.Entries {
			for _, n := range e.Neighbors {
				name := n.Node
				if len(n.Via) > 0 {
					name += " T " + strings.Join(n.Via, " ")
				}
				masks[name] = strings.ReplaceAll(fmt.Sprint(idsOf(n.FBM)), " ", ",")
			}
		}
		line := fmt.Sprintf("%d:", x.SI)
		for _, name := range slices.Sorted(maps.Keys(masks)) {
			line += " " + name + masks[name]
		}
		sets = append(sets, line)
	}
	return strings.Join(sets, " | ")
}

// numbered are the BFR-ids of r1, r2 …
func numbered(nodes ...int) map[string]uint16 {
	out := map[string]uint16{}
	for _, n := range nodes {
		out[fmt.Sprint("r", n)] = uint16(n)
	}
	return out
}

// The worked examples of RFC 8279 sections 6.4, 6.7, 6.9 and 6.10.2, computed by hand.
func TestWorkedExamples(t *testing.T) {
	plain := drawn("r1-r2 r2-x x-r3 r3-r4 x-r5", numbered(1, 2, 3, 4, 5), nil)
	plain256 := drawn("r1-r2 r2-x x-r3 r3-r4 x-r5", map[string]uint16{"r1": 1, "r2": 2, "r3": 3, "r4": 4, "r5": 5, "x": 6},
		map[string][]uint16{"r1": {64, 256}, "r2": {64, 256}, "r3": {64, 256}, "r4": {64, 256}, "r5": {64, 256}, "x": {256}})
	transit := numbered(1, 3, 4)
	transit["t"] = 0
	equal := drawn("r1-r2 r1-r3 r2-r4 r3-r4 r2-r5 r3-r6 r4-r7", numbered(1, 2, 3, 4, 5, 6, 7), nil)
	sets := drawn("a-b b-c b-d c-e", map[string]uint16{"a": 1, "b": 0, "c": 64, "d": 65, "e": 130},
		map[string][]uint16{"a": {64, 128, 256}, "b": {64, 128, 256}, "c": {64, 128, 256}, "d": {64, 128, 256}, "e": {64, 128, 256}})
	for _, x := range []struct {
		name string
		top  *bier.Topology
		b    bier.BSL
		want map[string]string
	}{
		{"6.9, x is no BFR", plain, 64, map[string]string{
			"r1": "0: r1[1] r2[2,3,4,5]",
			"r2": "0: r1[1] r2[2] r3 T x[3,4] r5 T x[5]",
			"r3": "0: r2 T x[1,2] r3[3] r4[4] r5 T x[5]",
			"r4": "0: r3[1,2,3,5] r4[4]",
			"r5": "0: r2 T x[1,2] r3 T x[3,4] r5[5]",
			"x":  ""}},
		{"6.10.2, x takes 256 bits only", plain256, 64, map[string]string{
			"r1": "0: r1[1] r2[2,3,4,5]",
			"r2": "0: r1[1] r2[2] r3 T x[3,4] r5 T x[5]",
			"r3": "0: r2 T x[1,2] r3[3] r4[4] r5 T x[5]"}},
		{"6.10.2, with 256 bits x is as any", plain256, 256, map[string]string{
			"r2": "0: r1[1] r2[2] x[3,4,5,6]",
			"x":  "0: r2[1,2] r3[3,4] r5[5] x[6]"}},
		{"6.9 with a transit BFR and equal ways", drawn("r1-x1 x1-x2 x2-r3 r1-t t-r4 x2-t", transit, nil), 64, map[string]string{
			"r1": "0: r1[1] r3 T x1 x2[3] t[3,4]",
			"t":  "0: r1[1] r3 T x2[3] r4[4]",
			"r3": "0: r1 T x2 x1[1] r3[3] t T x2[1,4]"}},
		{"6.7.1", equal, 64, map[string]string{
			"r1": "0: r1[1] r2[2,4,5,7] r3[3,4,6,7]",
			"r4": "0: r2[1,2,5] r3[1,3,6] r4[4] r7[7]"}},
		{"sets of 64 bits", sets, 64, map[string]string{"b": "0: a[1] c[64] | 1: d[65] | 2: c[130]"}},
		{"sets of 128 bits", sets, 128, map[string]string{"b": "0: a[1] c[64] d[65] | 1: c[130]"}},
		{"sets of 256 bits", sets, 256, map[string]string{"b": "0: a[1] c[64,130] d[65]"}},
	} {
		for node, want := range x.want {
			if got := shown(bier.NewGraph(x.top, 1, 0).BIFTs(node, x.b)); got != want {
				t.Errorf("%s, at %s: %s\nwant %s", x.name, node, got, want)
			}
		}
	}
	// 6.7.2: two tables of r1, and which neighbour each bit has.
	table := bier.NewGraph(equal, 1, 0).BIFTs("r1", 64)[0]
	if tree := bier.NewGraph(equal, 1, 0).Tree("r1", 64); tree.Ways("r7") != 2 || tree.Ways("r5") != 1 {
		t.Errorf("%d ways to r7, %d to r5", tree.Ways("r7"), tree.Ways("r5"))
	}
	for k, want := range []string{"0: r1[1] r2[2,4,5,7] r3[3,6]", "0: r1[1] r2[2,5] r3[3,4,6,7]"} {
		if got := shown([]bier.BIFT{table.Deterministic(uint32(k))}); got != want {
			t.Errorf("6.7.2, table %d: %s, want %s", k, got, want)
		}
	}
	// The copies of the packet to 3, 4 and 5 of the first example: two leave r2 over one link.
	p := &plane{g: bier.NewGraph(plain, 1, 0), b: 64}
	arrived, visited := p.forward(t, "r1", bier.BitStrings(64, []uint16{3, 4, 5})[0])
	if fmt.Sprint(arrived) != "map[3:1 4:1 5:1]" || visited["x"] {
		t.Errorf("arrived %v, visited %v", arrived, visited)
	}
	for _, c := range []struct {
		d       bier.NodeDomain
		s       bier.SubDomain
		b       bier.BSL
		si      int
		want    uint32
		defined bool
	}{
		{bier.NodeDomain{Global: bier.Global{Encapsulation: "bier-encapsulation-ethernet"}}, bier.SubDomain{ID: 1}, 256, 2, 0x30102, true},
		{bier.NodeDomain{}, bier.SubDomain{AF: bier.AF{IPv4: []bier.Encapsulation{{BSL: 64, Base: 100, Size: 3}}}}, 64, 2, 102, true},
		{bier.NodeDomain{}, bier.SubDomain{AF: bier.AF{IPv4: []bier.Encapsulation{{BSL: 64, Base: 100, Size: 3}}}}, 64, 3, 0, false},
	} {
		if id, ok := bier.BIFTID(&c.d, &c.s, c.b, c.si); id != c.want || ok != c.defined {
			t.Errorf("BIFT-id %#x %v, want %#x %v", id, ok, c.want, c.defined)
		}
	}
}

// What a plan needs of routers is said with the router's name and the reason.
func TestNeeds(t *testing.T) {
	ids := numbered(1, 2, 3, 4, 5)
	ids["r2"] = 0
	top := drawn("r1-r2 r2-x x-r3 r3-r4 x-r5", ids, nil)
	p, err := plan(top, &bier.Channel{DomainID: 1, IngressNode: "r1", EgressNodes: []bier.EgressNode{{ID: "r4"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := "[{r2 transit on the way to r4: it has no bfr-id} {r2 tunnel to reach r3 over x, which is not in sub-domain 0 of domain 1}]"
	if got := fmt.Sprint(p.Egress[0].Needs); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Neighbours and masks of 10,000 random networks are those of another computation, which
// follows the words of RFC 8279: all least distances by Floyd and Warshall; a BFR is a
// neighbour for a BFER when a least way to the BFER leads over it and has no BFR before.
func TestTablesOfRandomNetworks(t *testing.T) {
	for seed := range int64(10_000) {
		r := rand.New(rand.NewSource(seed))
		n := 3 + r.Intn(8)
		ids := map[string]uint16{}
		perm := r.Perm(n)
		var links []string
		for i := range n {
			if r.Intn(4) > 0 {
				ids[fmt.Sprint("n", i)] = uint16((perm[i] + 1) * (1 + 40*int(seed%2)))
			}
			if i > 0 {
				links = append(links, fmt.Sprintf("n%d-n%d", i, r.Intn(i)))
			}
		}
		for range r.Intn(n) {
			if a, b := r.Intn(n), r.Intn(n); a != b {
				links = append(links, fmt.Sprintf("n%d-n%d", a, b))
			}
		}
		top := drawn(strings.Join(links, " "), ids, nil)
		for i := range top.Links {
			top.Links[i].Metric = uint64(1 + r.Intn(3))
		}
		if r.Intn(4) == 0 { // some links have one direction only, and parts fall off
			top.Links = top.Links[1+r.Intn(2):]
		}
		g := bier.NewGraph(top, 1, 0)
		at := map[string]int{}
		for i, x := range top.Nodes {
			at[x.ID] = i
		}
		all := distances(top, at, func(int) bool { return true })
		for _, m := range g.Members {
			got, from := shown(g.BIFTs(m.Node, 64)), at[m.Node]
			direct := distances(top, at, func(i int) bool { _, bfr := ids[top.Nodes[i].ID]; return !bfr || i == from })
			masks := map[int]map[string][]uint16{}
			for _, e := range g.Members {
				for _, hop := range g.Members {
					near, self := direct[from][at[hop.Node]], m.Node == e.Node && hop.Node == m.Node
					if e.ID == 0 || !self && (hop.Node == m.Node || m.Node == e.Node || near >= far || near+all[at[hop.Node]][at[e.Node]] != all[from][at[e.Node]]) {
						continue
					}
					si := (int(e.ID) - 1) / 64
					if masks[si] == nil {
						masks[si] = map[string][]uint16{}
					}
					masks[si][hop.Node] = append(masks[si][hop.Node], e.ID)
				}
			}
			if want := written(masks); tunnelless(got) != want {
				t.Fatalf("seed %d: at %s: %s\nwant %s\nlinks %v\nids %v", seed, m.Node, tunnelless(got), want, top.Links, ids)
			}
		}
	}
}

const far = 1 << 40

// distances are the least ones over nodes that may be passed; ends need not.
func distances(top *bier.Topology, at map[string]int, pass func(i int) bool) [][]int {
	n := len(top.Nodes)
	d := make([][]int, n)
	for i := range d {
		d[i] = slices.Repeat([]int{far}, n)
		d[i][i] = 0
	}
	for _, l := range top.Links {
		a, b := at[l.Source.Node], at[l.Dest.Node]
		d[a][b] = min(d[a][b], int(l.Metric))
	}
	for k := range d {
		if !pass(k) {
			continue
		}
		for a := range d {
			for b := range d {
				d[a][b] = min(d[a][b], d[a][k]+d[k][b])
			}
		}
	}
	return d
}

func written(masks map[int]map[string][]uint16) string {
	var sets []string
	for _, si := range slices.Sorted(maps.Keys(masks)) {
		line := fmt.Sprintf("%d:", si)
		for _, node := range slices.Sorted(maps.Keys(masks[si])) {
			slices.Sort(masks[si][node])
			line += " " + node + strings.ReplaceAll(fmt.Sprint(masks[si][node]), " ", ",")
		}
		sets = append(sets, line)
	}
	return strings.Join(sets, " | ")
}

// tunnelless leaves the ways of tunnels out of what shown says.
func tunnelless(s string) string {
	var out []string
	skip := false
	for w := range strings.FieldsSeq(s) {
		switch {
		case w == "T":
			skip = true
		case skip && !strings.Contains(w, "["):
		case skip:
			out[len(out)-1] += w[strings.Index(w, "["):]
			skip = false
		default:
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}
