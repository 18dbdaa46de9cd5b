package bier

import "math"

// unreached is the distance of a member to which there is no way.
const unreached = math.MaxUint64

// spf is Dijkstra's algorithm over a Graph, with memory that is used again from root
// to root. After run, dist, parent and hop are by Member; parent and hop of members
// that are not reached mean nothing.
type spf struct {
	dist   []uint64
	parent []int32
	hop    []int32 // the first member on the way; the root itself for the root

	heap []int32 // members, the nearest first
	at   []int32 // where in heap a member is; -1: it is not there
}

// run computes the tree of a root. Of ways of the same length the one found first
// counts, so that a network gives the same tree each time.
func (s *spf) run(g *Graph, root int32) {
	n := len(g.Members)
	if len(s.dist) != n {
		*s = spf{dist: make([]uint64, n), parent: make([]int32, n), hop: make([]int32, n), heap: make([]int32, 0, n), at: make([]int32, n)}
	}
	for i := range s.dist {
		s.dist[i], s.at[i] = unreached, -1
	}
	s.dist[root], s.hop[root], s.parent[root] = 0, root, root
	s.push(root)
	for len(s.heap) > 0 {
		u := s.pop()
		for _, e := range g.edges[g.start[u]:g.start[u+1]] {
			d := s.dist[u] + e.weight
			if d >= s.dist[e.to] {
				continue
			}
			s.dist[e.to], s.parent[e.to] = d, u
			if s.hop[e.to] = s.hop[u]; u == root {
				s.hop[e.to] = e.to
			}
			if s.at[e.to] < 0 {
				s.push(e.to)
			} else {
				s.up(s.at[e.to])
			}
		}
	}
}

func (s *spf) push(v int32) {
	s.heap = append(s.heap, v)
	s.at[v] = int32(len(s.heap) - 1)
	s.up(s.at[v])
}

func (s *spf) pop() int32 {
	top, last := s.heap[0], s.heap[len(s.heap)-1]
	s.heap = s.heap[:len(s.heap)-1]
	s.at[top] = -1
	if top != last {
		s.heap[0], s.at[last] = last, 0
		s.down(0)
	}
	return top
}

func (s *spf) up(i int32) {
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

func (s *spf) down(i int32) {
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
