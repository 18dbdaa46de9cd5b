package bier

import (
	"encoding/binary"
	"math"
	"slices"
)

// unreached is the distance of a vertex to which there is no way.
const unreached = math.MaxUint64

// spf is Dijkstra's algorithm over a Graph, with memory that is used again from root
// to root. After run, all is by vertex; of those that are not reached only dist counts.
type spf struct {
	g   *Graph
	bfr []bool // who is a BFR of the sub-domain

	dist []uint64
	// hops are the first BFRs on all ways of the least distance, which are the neighbours in
	// the sense of RFC 8279 section 6.9: a set. The root's is itself.
	hops []int32
	// open: a way of the least distance has no BFR between root and here; through: the last
	// but one vertex of such a way.
	open    []bool
	through []int32
	sets    sets

	heap []int32 // vertices, the nearest first
	at   []int32 // where in heap a vertex is; -1: it is not there
}

// computeTree computes the tree of a root.
func (s *spf) computeTree(root int32) {
	g, n := s.g, len(s.g.same)
	if len(s.dist) != n {
		s.dist, s.hops, s.at = make([]uint64, n), make([]int32, n), make([]int32, n)
		s.open, s.through, s.heap = make([]bool, n), make([]int32, n), make([]int32, 0, n)
	}
	for i := range s.dist {
		s.dist[i], s.at[i] = unreached, -1
	}
	s.sets.reset(g.same)
	s.dist[root], s.hops[root], s.open[root] = 0, root, true
	s.pushVertex(root)
	for len(s.heap) > 0 {
		u := s.popVertex()
		for _, e := range g.edges[g.start[u]:g.start[u+1]] {
			d := s.dist[u] + e.weight
			if d > s.dist[e.to] {
				continue
			}
			closer := d < s.dist[e.to]
			s.extendWay(root, u, e.to, closer)
			if !closer {
				continue
			}
			s.dist[e.to] = d
			if s.at[e.to] < 0 {
				s.pushVertex(e.to)
			} else {
				s.siftUp(s.at[e.to])
			}
		}
	}
}

// extendWay takes in that a way of the least distance leads over u to v: the first, or one
// more. All weights are at least 1, so nothing is added to u any more.
func (s *spf) extendWay(root, u, v int32, first bool) {
	hops, open := s.hops[u], s.open[u]
	if u == root {
		hops = none
	}
	if open && s.bfr[v] {
		hops, open = s.sets.unionSets(hops, v), false
		if first || !s.isNeighborOfRoot(v) || u == root {
			s.through[v] = u
		}
	} else if open && (first || !s.open[v]) {
		s.through[v] = u
	}
	if first {
		s.hops[v], s.open[v] = hops, open
		return
	}
	s.hops[v], s.open[v] = s.sets.unionSets(s.hops[v], hops), s.open[v] || open
}

// isNeighborOfRoot reports whether v is a neighbour of the root.
func (s *spf) isNeighborOfRoot(v int32) bool {
	_, ok := slices.BinarySearch(s.sets.setMembers(s.hops[v]), v)
	return ok
}

// viaVertices returns the vertices between the root and a neighbour of it that is not adjacent.
func (s *spf) viaVertices(root, v int32) (out []string) {
	for at := s.through[v]; at != root; at = s.through[at] {
		out = append(out, s.g.nodeID(at))
	}
	slices.Reverse(out)
	return out
}

// sets are sets of vertices, each once. Those of one vertex have its number.
type sets struct {
	same  []int32
	lists [][]int32 // of the sets with more or less than one vertex
	known map[string]int32
	sums  map[[2]int32]int32
}

// none is the empty set.
const none = -1

func (x *sets) reset(same []int32) {
	x.same, x.lists = same, x.lists[:0]
	clear(x.known)
	clear(x.sums)
}

func (x *sets) setMembers(set int32) []int32 {
	switch {
	case set == none:
		return nil
	case int(set) < len(x.same):
		return x.same[set : set+1]
	}
	return x.lists[int(set)-len(x.same)]
}

func (x *sets) unionSets(a, b int32) int32 {
	switch {
	case a == b || b == none:
		return a
	case a == none:
		return b
	}
	pair := [2]int32{min(a, b), max(a, b)}
	if sum, ok := x.sums[pair]; ok {
		return sum
	}
	if x.sums == nil {
		x.sums, x.known = map[[2]int32]int32{}, map[string]int32{}
	}
	all := slices.Concat(x.setMembers(a), x.setMembers(b))
	slices.Sort(all)
	all = slices.Compact(all)
	var key []byte
	for _, v := range all {
		key = binary.BigEndian.AppendUint32(key, uint32(v))
	}
	sum, ok := x.known[string(key)]
	if !ok {
		sum = int32(len(x.same) + len(x.lists))
		x.lists = append(x.lists, all)
		x.known[string(key)] = sum
	}
	x.sums[pair] = sum
	return sum
}

func (s *spf) pushVertex(v int32) {
	s.heap = append(s.heap, v)
	s.at[v] = int32(len(s.heap) - 1)
	s.siftUp(s.at[v])
}

func (s *spf) popVertex() int32 {
	top, last := s.heap[0], s.heap[len(s.heap)-1]
	s.heap = s.heap[:len(s.heap)-1]
	s.at[top] = -1
	if top != last {
		s.heap[0], s.at[last] = last, 0
		s.siftDown(0)
	}
	return top
}

func (s *spf) siftUp(i int32) {
	v := s.heap[i]
	for i > 0 {
		p := (i - 1) / 2
		if s.dist[s.heap[p]] <= s.dist[v] {
			break
		}
		s.heap[i], s.at[s.heap[p]] = s.heap[p], i
		i = p
	}
	s.heap[i], s.at[v] = v, i
}

func (s *spf) siftDown(i int32) {
	v, n := s.heap[i], int32(len(s.heap))
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && s.dist[s.heap[c+1]] < s.dist[s.heap[c]] {
			c++
		}
		if s.dist[v] <= s.dist[s.heap[c]] {
			break
		}
		s.heap[i], s.at[s.heap[c]] = s.heap[c], i
		i = c
	}
	s.heap[i], s.at[v] = v, i
}
