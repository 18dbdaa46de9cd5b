package bier_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"

	"ctl.internal/internal/bier"
)

// oracle is the same network for gonum, all nodes of it.
func oracle(top *bier.Topology) *simple.WeightedDirectedGraph {
	o := simple.NewWeightedDirectedGraph(0, math.Inf(1))
	index := map[string]int64{}
	for i, n := range top.Nodes {
		index[n.ID] = int64(i)
		o.AddNode(simple.Node(i))
	}
	for _, l := range top.Links {
		from, ok := index[l.Source.Node]
		to, also := index[l.Dest.Node]
		if !ok || !also || from == to {
			continue
		}
		w := float64(max(l.Metric, 1))
		if e := o.WeightedEdge(from, to); e == nil || e.Weight() > w {
			o.SetWeightedEdge(o.NewWeightedEdge(simple.Node(from), simple.Node(to), w))
		}
	}
	return o
}

// Ways have the lengths that gonum finds, and members that gonum does not reach have none.
func TestTreesAreThoseOfGonum(t *testing.T) {
	for seed := range int64(8) {
		top := network(3+int(seed)*7, int(seed)*9, seed)
		if seed%3 == 0 { // cut it into parts
			top.Links = top.Links[:len(top.Links)*2/3]
		}
		top.Node("n00001").Params.Domains = nil // is no member: ways lead over it, not to it
		g := bier.NewGraph(top, 1, 1)
		o := oracle(top)
		for _, m := range g.Members {
			tree, want := g.Tree(m.Node, 256), path.DijkstraFrom(simple.Node(index(top, m.Node)), o)
			for _, to := range g.Members {
				w := want.WeightTo(index(top, to.Node))
				sum, way := 0.0, tree.Path(to.Node)
				for k := 1; k < len(way); k++ {
					a, b := index(top, way[k-1]), index(top, way[k])
					sum += o.WeightedEdge(a, b).Weight()
				}
				if ok := !math.IsInf(w, 1); ok != (way != nil) || ok && (sum != w || way[0] != m.Node || way[len(way)-1] != to.Node) {
					t.Fatalf("seed %d: the way %v has length %v, want %v", seed, way, sum, w)
				}
			}
		}
		if g.Tree(g.Members[0].Node, 256).Path("n00001") != nil {
			t.Error("a node that is no member is reached")
		}
	}
}

func index(t *bier.Topology, node string) int64 {
	return int64(slices.IndexFunc(t.Nodes, func(n bier.Node) bool { return n.ID == node }))
}

// All tables at once are those of each member, and each neighbour's mask has exactly
// the bits of the members reached through it.
func TestAllTables(t *testing.T) {
	top := network(100, 70, 7)
	g := bier.NewGraph(top, 1, 1)
	var mu sync.Mutex
	seen := map[int][]bier.BIFT{}
	g.AllBIFTs(64, func(i int, tables []bier.BIFT) {
		mu.Lock()
		defer mu.Unlock()
		seen[i] = tables
	})
	for i, m := range g.Members {
		if one := g.BIFTs(m.Node, 64); len(one) != 2 || fmt.Sprint(one) != fmt.Sprint(seen[i]) {
			t.Fatalf("%s: %v, alone %v", m.Node, seen[i], one)
		}
		tree := g.Tree(m.Node, 64)
		for _, table := range seen[i] {
			through := map[string][]uint16{}
			for _, e := range table.Entries {
				way := tree.Path(e.Node)
				if !slices.ContainsFunc(e.Neighbors, func(n bier.Neighbor) bool { return n.Node == way[min(1, len(way)-1)] }) {
					t.Fatalf("%s: the way to %s is %v, the neighbours %v", m.Node, e.Node, way, e.Neighbors)
				}
				for _, n := range e.Neighbors {
					through[n.Node] = append(through[n.Node], e.ID)
				}
			}
			for _, e := range table.Entries {
				for _, n := range e.Neighbors {
					if n.FBM.SI != table.SI || fmt.Sprint(idsOf(n.FBM)) != fmt.Sprint(through[n.Node]) {
						t.Fatalf("%s: the mask of %s is %v, through it go %v", m.Node, n.Node, idsOf(n.FBM), through[n.Node])
					}
				}
			}
		}
	}
	if len(seen) != len(g.Members) {
		t.Errorf("%d of %d members", len(seen), len(g.Members))
	}
}
