package bier

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Graph is the network that a sub-domain is part of: its members, which are its BFRs, and
// the other nodes of the topology, over which packets come in tunnels (RFC 8279 section
// 6.9). It is never changed, so that many may compute on it at the same time.
type Graph struct {
	mu     sync.Mutex
	takers map[BSL][]bool // takes of before
	print  string         // Print of before
	trees  map[treeKey]*Tree
	plans  plans

	Domain, SubDomain uint16
	Members           []Member // in the order of node-ids
	others            []string // nodes that are no members
	// Vertices are the members, then the others.
	index map[string]int32
	start []int32 // edges[start[i]:start[i+1]] leave vertex i
	edges []edge
	ends  []int32 // back[ends[i]:ends[i+1]] are the edges that lead to vertex i, turned round
	back  []edge
	byID  []int32 // indices of Members in ascending order of BFR-id
	same  []int32 // 0, 1, 2 …: lists of one vertex are pieces of it
}

// Member is a node of a sub-domain.
type Member struct {
	Node   string
	ID     uint16 // BFR-id that counts, 0 = transit only
	domain *NodeDomain
	sub    *SubDomain
}

type edge struct {
	to     int32
	weight uint64
}

// maxWeight bounds the metric of a link, so that no sum overflows: a path has less
// than 2^31 links.
const maxWeight = 1<<32 - 1

// NewGraph returns the network of a sub-domain.
func NewGraph(t *Topology, domain, sub uint16) *Graph {
	g := &Graph{
		Domain:    domain,
		SubDomain: sub,
		index:     make(map[string]int32, len(t.Nodes)),
		same:      make([]int32, len(t.Nodes)),
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if d, s := n.Member(domain, sub); s != nil {
			g.Members = append(g.Members, Member{n.ID, BFRID(d, s), d, s})
		} else {
			g.others = append(g.others, n.ID)
		}
		g.same[i] = int32(i)
	}
	for i := range g.same {
		g.index[g.nodeID(int32(i))] = int32(i)
	}
	g.byID = make([]int32, len(g.Members))
	for i := range g.byID {
		g.byID[i] = int32(i)
	}
	slices.SortFunc(g.byID, func(a, b int32) int {
		return cmp.Compare(g.Members[a].ID, g.Members[b].ID)
	})
	g.connectEdges(t.Links)
	return g
}

// nodeID is the node-id of a vertex.
func (g *Graph) nodeID(v int32) string {
	if int(v) < len(g.Members) {
		return g.Members[v].Node
	}
	return g.others[int(v)-len(g.Members)]
}

// graphs keeps the graphs of a topology that is shared: planning a channel needs one, and
// there are many channels.
type graphs struct {
	mu  sync.Mutex
	all map[[2]uint16]*Graph
}

// Graph returns the network of a sub-domain.
func (t *Topology) Graph(domain, sub uint16) *Graph {
	if t.graphs == nil {
		return NewGraph(t, domain, sub)
	}
	t.graphs.mu.Lock()
	defer t.graphs.mu.Unlock()
	g := t.graphs.all[[2]uint16{domain, sub}]
	if g == nil {
		g = NewGraph(t, domain, sub)
		t.graphs.all[[2]uint16{domain, sub}] = g
	}
	return g
}

// connectEdges lays the edges out by the vertex they leave and by the one they lead to, in the order
// of the links.
func (g *Graph) connectEdges(links []Link) {
	inside := make([]ends, 0, len(links))
	for i := range links {
		from, ok := g.index[links[i].Source.Node]
		to, also := g.index[links[i].Dest.Node]
		if ok && also && from != to {
			inside = append(inside, ends{from, to, min(max(links[i].Metric, 1), maxWeight)})
		}
	}
	g.start, g.edges = g.layOut(inside)
	for i := range inside {
		inside[i].from, inside[i].to = inside[i].to, inside[i].from
	}
	g.ends, g.back = g.layOut(inside)
}

// ends are two vertices and the weight of the link from one to the other.
type ends struct {
	from, to int32
	weight   uint64
}

// layOut returns the edges by the vertex they leave.
func (g *Graph) layOut(inside []ends) (start []int32, edges []edge) {
	start = make([]int32, len(g.same)+1)
	for _, x := range inside {
		start[x.from+1]++
	}
	for i := range g.same {
		start[i+1] += start[i]
	}
	next := slices.Clone(start)
	edges = make([]edge, len(inside))
	for _, x := range inside {
		edges[next[x.from]] = edge{x.to, x.weight}
		next[x.from]++
	}
	return start, edges
}

// Member returns a member by its node-id.
func (g *Graph) Member(node string) (Member, bool) {
	i, ok := g.index[node]
	if !ok || int(i) >= len(g.Members) {
		return Member{}, false
	}
	return g.Members[i], true
}

// bslTakers says by vertex who handles bit strings of a length: members that have labels for
// it. The others are, for that length, no BFRs (RFC 8279 section 6.10.2, third option). It
// must not be changed.
func (g *Graph) bslTakers(b BSL) []bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if out := g.takers[b]; out != nil {
		return out
	}
	out := make([]bool, len(g.same))
	for i := range g.Members {
		out[i] = slices.Contains(Disposition(g.Members[i].domain, g.Members[i].sub), b)
	}
	if g.takers == nil {
		g.takers = map[BSL][]bool{}
	}
	g.takers[b] = out
	return out
}

// Tree is the shortest-path tree of a member. It is never changed.
type Tree struct {
	root int32
	spf
}

// treeKey names a tree of a Graph.
type treeKey struct {
	node string
	b    BSL
}

// maxTrees bounds the trees that a Graph keeps.
const maxTrees = 64

// Tree computes the shortest paths from a member for bit strings of a length. The node must
// be one. A tree that was asked for a short time ago is the same pointer.
func (g *Graph) Tree(node string, b BSL) *Tree {
	bfr, key := g.bslTakers(b), treeKey{node, b}
	g.mu.Lock()
	t := g.trees[key]
	g.mu.Unlock()
	if t != nil {
		return t
	}
	t = &Tree{root: g.index[node], spf: spf{g: g, bfr: bfr}}
	t.computeTree(t.root)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trees == nil || len(g.trees) >= maxTrees {
		g.trees = map[treeKey]*Tree{}
	}
	g.trees[key] = t
	return t
}

// Ways is how many neighbours have a way of the least distance to a node.
func (t *Tree) Ways(node string) int {
	return len(t.Next(node))
}

// Next are the neighbours that have a way of the least distance to a node, in the order of their node-ids.
func (t *Tree) Next(node string) (out []string) {
	to, ok := t.g.index[node]
	if !ok || t.dist[to] == unreached {
		return nil
	}
	for _, hop := range t.sets.setMembers(t.hops[to]) {
		out = append(out, t.g.nodeID(hop))
	}
	return out
}

// Path returns the node-ids on a way of the least distance to a member, both ends included: of
// equal ones that over the lowest node-ids, seen from the end. Nil when there is no way or the node
// is no member.
func (t *Tree) Path(node string) []string {
	to, ok := t.g.index[node]
	if !ok || int(to) >= len(t.g.Members) || t.dist[to] == unreached {
		return nil
	}
	var out []string
	for at := to; at != t.root; at = t.previousVertices(at)[0] {
		out = append(out, t.g.nodeID(at))
	}
	out = append(out, t.g.nodeID(t.root))
	slices.Reverse(out)
	return out
}

// previousVertices are the vertices from which a way of the least distance comes to v, in the order of
// their node-ids.
func (t *Tree) previousVertices(v int32) (out []int32) {
	g := t.g
	for _, e := range g.back[g.ends[v]:g.ends[v+1]] {
		if t.dist[e.to] != unreached &&
			t.dist[e.to]+e.weight == t.dist[v] &&
			!slices.Contains(out, e.to) {
			out = append(out, e.to)
		}
	}
	slices.SortFunc(out, func(a, b int32) int {
		return strings.Compare(g.nodeID(a), g.nodeID(b))
	})
	return out
}
