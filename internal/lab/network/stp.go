package network

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"ctl.internal/internal/lab/simswitch"
)

// place is a switch in the spanning tree while it is computed. All links cost the same.
type place struct {
	node   *Node
	id     simswitch.BridgeID
	root   *place // nil: not reached yet
	hops   int    // to the root
	parent *cable // towards the root
}

// farEnd returns the other end of a link.
func (l *cable) farEnd(node *Node) (*Node, int) {
	if l.a == node {
		return l.b, l.bPort
	}
	return l.a, l.aPort
}

// isInSpanningTree reports whether the spanning tree runs over the link.
func (l *cable) isInSpanningTree() bool {
	return l.live && l.a.STPEnabled(l.aPort) && l.b.STPEnabled(l.bPort)
}

// computeSpanningTree computes the spanning tree of every island and informs the switches. The switch with the
// smallest bridge id that is not reached yet is the root of its island.
func (n *Network) computeSpanningTree() {
	places := make([]*place, len(n.nodes))
	for i, node := range n.nodes {
		places[i] = &place{node: node, id: node.BridgeID()}
	}
	byID := func(a, b *place) int { return bytes.Compare(a.id[:], b.id[:]) }
	for _, root := range slices.SortedFunc(slices.Values(places), byID) {
		if root.root != nil {
			continue
		}
		root.root = root
		for level := []*place{root}; len(level) > 0; {
			level = nextHopPlaces(level, places)
			slices.SortFunc(level, byID)
		}
	}
	for _, p := range places {
		p.setTreePorts(places)
	}
	for _, l := range n.links {
		l.blocked = l.isInSpanningTree() && places[l.a.index].parent != l && places[l.b.index].parent != l
	}
}

// nextHopPlaces returns the switches that are one hop farther from the root than a level. The level is in the order of the
// bridge ids, so that each switch is reached by the way that the algorithm prefers: over the smallest bridge id, then
// the smallest port.
func nextHopPlaces(level, places []*place) (next []*place) {
	for _, p := range level {
		for _, port := range slices.Sorted(maps.Keys(p.node.byPort)) {
			l := p.node.byPort[port]
			if !l.isInSpanningTree() {
				continue
			}
			other, _ := l.farEnd(p.node)
			if to := places[other.index]; to.root == nil {
				to.root, to.hops, to.parent = p.root, p.hops+1, l
				next = append(next, to)
			}
		}
	}
	return next
}

// setTreePorts gives a switch its part. On a link that is no switch's way to the root the end farther from the root blocks.
func (p *place) setTreePorts(places []*place) {
	ports := make(map[int]simswitch.TreePort, len(p.node.byPort))
	for port, l := range p.node.byPort {
		other, otherPort := l.farEnd(p.node)
		o := places[other.index]
		state, mine := simswitch.Forwarding, true
		switch {
		case !l.isInSpanningTree():
		case p.parent == l:
			mine = false
		case o.parent != l:
			mine = cmp.Or(
				cmp.Compare(p.hops, o.hops),
				bytes.Compare(p.id[:], o.id[:]),
				cmp.Compare(port, otherPort),
			) < 0
			if !mine {
				state = simswitch.Blocking
			}
		}
		if mine {
			ports[port] = simswitch.TreePort{
				State:  state,
				Bridge: p.id,
				Port:   port,
			}
		} else {
			ports[port] = simswitch.TreePort{
				State:  state,
				Bridge: o.id,
				Port:   otherPort,
			}
		}
	}
	p.node.SetTree(p.root.id, ports)
}
