package network

import (
	"bytes"
	"cmp"
	"container/heap"

	"ctl.internal/internal/lab/simswitch"
)

// place is a switch in the spanning tree while it is computed.
type place struct {
	node   *Node
	id     simswitch.BridgeID
	root   simswitch.BridgeID
	cost   int
	parent *cable // towards the root
	seen   bool
}

// offer is a way to reach the root.
type offer struct {
	cost int
	via  simswitch.BridgeID
	port int
	link *cable
	to   *place
}

type offers []offer

func (o offers) Len() int { return len(o) }
func (o offers) Less(i, j int) bool {
	a, b := o[i], o[j]
	return cmp.Or(cmp.Compare(a.cost, b.cost), bytes.Compare(a.via[:], b.via[:]), cmp.Compare(a.port, b.port)) < 0
}
func (o offers) Swap(i, j int) { o[i], o[j] = o[j], o[i] }
func (o *offers) Push(x any)   { *o = append(*o, x.(offer)) }
func (o *offers) Pop() any {
	old := *o
	x := old[len(old)-1]
	*o = old[:len(old)-1]
	return x
}

// far returns the other end of a link.
func (l *cable) far(node *Node) (*Node, int) {
	if l.a == node {
		return l.b, l.bPort
	}
	return l.a, l.aPort
}

// spans reports whether the spanning tree runs over the link.
func (l *cable) spans() bool {
	return l.live && l.a.STPEnabled(l.aPort) && l.b.STPEnabled(l.bPort)
}

// roots groups the switches into islands and returns the root of each.
func (n *Network) roots(places []*place) []*place {
	var out []*place
	visited := make([]bool, len(places))
	for i := range places {
		if visited[i] {
			continue
		}
		visited[i] = true
		best, todo := places[i], []*Node{places[i].node}
		for len(todo) > 0 {
			node := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if p := places[node.index]; bytes.Compare(p.id[:], best.id[:]) < 0 {
				best = p
			}
			for _, l := range node.byPort {
				if other, _ := l.far(node); l.spans() && !visited[other.index] {
					visited[other.index] = true
					todo = append(todo, other)
				}
			}
		}
		out = append(out, best)
	}
	return out
}

// span computes the spanning tree of every island and informs the switches.
func (n *Network) span() {
	places := make([]*place, len(n.nodes))
	for i, node := range n.nodes {
		places[i] = &place{node: node, id: node.BridgeID()}
	}
	for _, root := range n.roots(places) {
		todo := &offers{{to: root}}
		for todo.Len() > 0 {
			o := heap.Pop(todo).(offer)
			if o.to.seen {
				continue
			}
			o.to.seen, o.to.cost, o.to.parent, o.to.root = true, o.cost, o.link, root.id
			for port, l := range o.to.node.byPort {
				if other, at := l.far(o.to.node); l.spans() && !places[other.index].seen {
					heap.Push(todo, offer{o.cost + other.PathCost(at), o.to.id, port, l, places[other.index]})
				}
			}
		}
	}
	for _, p := range places {
		p.tell(places)
	}
	for _, l := range n.links {
		l.blocked = l.spans() && places[l.a.index].parent != l && places[l.b.index].parent != l
	}
}

// tell gives a switch its part. On a link that no switch uses to reach the root the
// end farther from the root blocks.
func (p *place) tell(places []*place) {
	tree := simswitch.Tree{Root: p.root, Cost: p.cost}
	ports := make(map[int]simswitch.TreePort, len(p.node.byPort))
	for port, l := range p.node.byPort {
		other, otherPort := l.far(p.node)
		o := places[other.index]
		state, mine := simswitch.Forwarding, true
		switch {
		case !l.spans():
		case p.parent == l:
			tree.RootPort, mine = port, false
		case o.parent != l:
			mine = cmp.Or(cmp.Compare(p.cost, o.cost), bytes.Compare(p.id[:], o.id[:]), cmp.Compare(port, otherPort)) < 0
			if !mine {
				state = simswitch.Blocking
			}
		}
		if mine {
			ports[port] = simswitch.TreePort{State: state, Bridge: p.id, Port: port, Cost: p.cost}
		} else {
			ports[port] = simswitch.TreePort{State: state, Bridge: o.id, Port: otherPort, Cost: o.cost}
		}
	}
	p.node.SetTree(tree, ports)
}
