package bier

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
)

// Graph is the network of one sub-domain: its members and the links between them.
type Graph struct {
	Domain, SubDomain uint16
	Members           []Member
	index             map[string]int64
	out               [][]edge // by Member, in the order of the links
	byID              []int    // indices of Members in ascending order of BFR-id
}

// Member is a node of a sub-domain.
type Member struct {
	Node   string
	ID     uint16 // BFR-id that counts, 0 = transit only
	domain *NodeDomain
	sub    *SubDomain
}

type edge struct {
	to     int64
	weight float64
}

// NewGraph returns the network of a sub-domain. Only nodes for which online
// answers true take part; nil = all.
func NewGraph(t *Topology, domain, sub uint16, online func(node string) bool) *Graph {
	g := &Graph{Domain: domain, SubDomain: sub, index: map[string]int64{}}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		d, s := n.Member(domain, sub)
		if s == nil || online != nil && !online(n.ID) {
			continue
		}
		g.index[n.ID] = int64(len(g.Members))
		g.Members = append(g.Members, Member{n.ID, BFRID(d, s), d, s})
	}
	g.out = make([][]edge, len(g.Members))
	g.byID = make([]int, len(g.Members))
	for i := range g.byID {
		g.byID[i] = i
	}
	slices.SortFunc(g.byID, func(a, b int) int { return cmp.Compare(g.Members[a].ID, g.Members[b].ID) })
	for _, l := range t.Links {
		from, ok := g.index[l.Source.Node]
		to, also := g.index[l.Dest.Node]
		if ok && also && from != to {
			g.out[from] = append(g.out[from], edge{to, float64(max(l.Metric, 1))})
		}
	}
	return g
}

// Member returns a member by its node-id.
func (g *Graph) Member(node string) (Member, bool) {
	i, ok := g.index[node]
	if !ok {
		return Member{}, false
	}
	return g.Members[i], true
}

// Tree is the shortest-path tree of a member.
type Tree struct {
	g        *Graph
	from     int64
	shortest path.Shortest
}

// Tree computes the shortest paths from a member. The node must be one.
func (g *Graph) Tree(node string) *Tree {
	from := g.index[node]
	return &Tree{g, from, path.DijkstraFrom(simple.Node(from), walker{g})}
}

// Path returns the node-ids on the way to a member, both ends included; nil when
// there is no way or the node is no member.
func (t *Tree) Path(node string) []string {
	to, ok := t.g.index[node]
	if !ok {
		return nil
	}
	nodes, _ := t.shortest.To(to)
	out := make([]string, 0, len(nodes))
	for _, n := range nodes {
		out = append(out, t.g.Members[n.ID()].Node)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// walker lets gonum walk a Graph without a copy of it.
type walker struct{ g *Graph }

// From implements traverse.Graph.
func (w walker) From(id int64) graph.Nodes { return &successors{g: w.g, edges: w.g.out[id], i: -1} }

// Edge implements traverse.Graph.
func (w walker) Edge(u, v int64) graph.Edge {
	return simple.Edge{F: simple.Node(u), T: simple.Node(v)}
}

// Weight implements path.Weighted; of parallel links the cheapest counts.
func (w walker) Weight(u, v int64) (float64, bool) {
	best, ok := 0.0, false
	for _, e := range w.g.out[u] {
		if e.to == v && (!ok || e.weight < best) {
			best, ok = e.weight, true
		}
	}
	return best, ok
}

type successors struct {
	g     *Graph
	edges []edge
	i     int
}

func (s *successors) Next() bool       { s.i++; return s.i < len(s.edges) }
func (s *successors) Len() int         { return max(len(s.edges)-s.i-1, 0) }
func (s *successors) Reset()           { s.i = -1 }
func (s *successors) Node() graph.Node { return simple.Node(s.edges[s.i].to) }
