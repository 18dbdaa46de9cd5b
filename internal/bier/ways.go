package bier

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ways are all ways of the least distance from the ingress of a channel to its egress nodes: a
// graph without loops of the vertices that are on one of them. Vertex 0 is the ingress; every edge
// leads from a lower to a higher index.
type ways struct {
	g        *Graph
	bfr      []bool    // by vertex of the Graph: it is a BFR for the length of the channel
	vertices []int32   // of the Graph, in ascending order of the distance
	before   [][]int32 // by index: the indices from which a way comes, in the order of node-ids
}

// newWays collects the ways of a tree to these nodes, which it reaches.
func newWays(t *Tree, nodes []string) *ways {
	w := &ways{g: t.g, bfr: t.bfr}
	seen := map[int32]bool{t.root: true}
	w.vertices = []int32{t.root}
	add := func(v int32) {
		if !seen[v] {
			seen[v] = true
			w.vertices = append(w.vertices, v)
		}
	}
	for _, node := range nodes {
		add(t.g.index[node])
	}
	for i := 0; i < len(w.vertices); i++ {
		for _, u := range t.previousVertices(w.vertices[i]) {
			add(u)
		}
	}
	slices.SortFunc(w.vertices, func(a, b int32) int {
		return cmp.Or(
			cmp.Compare(t.dist[a], t.dist[b]),
			strings.Compare(t.g.nodeID(a), t.g.nodeID(b)),
		)
	})
	at := make(map[int32]int32, len(w.vertices))
	for i, v := range w.vertices {
		at[v] = int32(i)
	}
	w.before = make([][]int32, len(w.vertices))
	for i, v := range w.vertices {
		for _, u := range t.previousVertices(v) {
			w.before[i] = append(w.before[i], at[u])
		}
	}
	return w
}

func (w *ways) vertexName(i int32) string {
	return w.g.nodeID(w.vertices[i])
}

// isBFR reports whether packets are forwarded by BIER there; else they pass in tunnels.
func (w *ways) isBFR(i int32) bool {
	return w.bfr[w.vertices[i]]
}

// nodeIndex is that of a node, -1 if it is on no way.
func (w *ways) nodeIndex(node string) int32 {
	v, ok := w.g.index[node]
	if !ok {
		return -1
	}
	return int32(slices.Index(w.vertices, v))
}

// markWayVertices marks the vertices that are on a way to a node.
func (w *ways) markWayVertices(node int32) []bool {
	on := make([]bool, len(w.vertices))
	on[node] = true
	for i := node; i > 0; i-- {
		if !on[i] {
			continue
		}
		for _, u := range w.before[i] {
			on[u] = true
		}
	}
	return on
}

// transitBFRs are the BFRs on the ways besides the ingress and these nodes, in the order of the distance.
func (w *ways) transitBFRs(nodes []string) (out []string) {
	for i := range w.vertices[1:] {
		node := w.vertexName(int32(i + 1))
		if w.isBFR(int32(i+1)) && !slices.Contains(nodes, node) {
			out = append(out, node)
		}
	}
	return out
}

// wayNeeds are what the ways to a node ask of routers, each once.
func (w *ways) wayNeeds(to int32) (out []Need) {
	add := func(n Need) {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	on := w.markWayVertices(to)
	for i := int32(1); i <= to; i++ {
		if !on[i] || !w.isBFR(i) {
			continue
		}
		if m := w.g.Members[w.vertices[i]]; m.ID == 0 {
			add(Need{w.vertexName(i), Transit, "on the way to " + w.vertexName(to) + ": it has no bfr-id"})
		}
		for _, u := range w.before[i] {
			w.addTunnelNeeds(i, u, nil, map[int32]bool{}, add)
		}
	}
	return out
}

// addTunnelNeeds adds the need of each BFR from which packets come to the BFR hop over nodes that are none;
// between are those found so far, the nearest to hop last.
func (w *ways) addTunnelNeeds(
	hop, at int32,
	between []string,
	seen map[int32]bool,
	add func(Need),
) {
	if w.isBFR(at) {
		if len(between) > 0 {
			add(Need{w.vertexName(at), Tunnel, fmt.Sprintf(
				"to reach %s over %s",
				w.vertexName(hop),
				strings.Join(between, " and "),
			)})
		}
		return
	}
	if seen[at] { // one way in between is enough to name
		return
	}
	seen[at] = true
	between = append([]string{w.describeNonBFR(at)}, between...)
	for _, u := range w.before[at] {
		w.addTunnelNeeds(hop, u, between, seen, add)
	}
}

// describeNonBFR names a node that is no BFR, and says why.
func (w *ways) describeNonBFR(i int32) string {
	node := w.vertexName(i)
	if m, member := w.g.Member(node); member {
		return fmt.Sprintf(
			"%s, which takes bit strings of %v only",
			node,
			Disposition(m.domain, m.sub),
		)
	}
	return fmt.Sprintf(
		"%s, which is not in sub-domain %d of domain %d",
		node,
		w.g.SubDomain,
		w.g.Domain,
	)
}
