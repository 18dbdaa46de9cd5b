package compare

import (
	"cmp"
	"slices"
)

// port is a port of a node that was found.
type port struct {
	node *Node
	id   string
}

func (p port) String() string {
	if p.id == "" {
		return p.node.label()
	}
	return p.node.label() + ":" + p.node.portName(p.id)
}

// cable is what connects two nodes: one pair of ports, or those of an aggregation.
type cable struct {
	a, b port
	// ports are all that belong to it, with the end at which they are.
	ports map[port]bool // true at b
	// membersA and membersB are the ports of an aggregation, where it is one.
	membersA, membersB map[port]bool
	// byB and byA say in which directions it is seen.
	byB, byA bool
	oneSided bool
	inferred bool

	used  int // links of the lab that have it, or a member of it
	whole bool
	taken map[port]bool // members that links name
	text  string
}

func (c *cable) String() string {
	return c.text
}

func compareCables(x, y *cable) int {
	return cmp.Or(
		cmp.Compare(x.text, y.text),
		cmp.Compare(x.a.node.Topology, y.a.node.Topology),
		cmp.Compare(x.a.id, y.a.id),
		cmp.Compare(x.b.id, y.b.id),
	)
}

func (c *cable) isBundle() bool {
	return len(c.membersA)+len(c.membersB) > 0
}

// capacity is how many links a cable is.
func (c *cable) capacity() int {
	switch a, b := len(c.membersA), len(c.membersB); {
	case a == 0 && b == 0:
		return 1
	case a == 0 || b == 0:
		return max(a, b)
	default:
		return min(a, b)
	}
}

// isAggregation reports whether a port is an aggregation itself and none of its members.
func (c *cable) isAggregation(p port) bool {
	return c.isBundle() && (p == c.a || p == c.b) && !c.membersA[p] && !c.membersB[p]
}

func (c *cable) isUsed() bool {
	return c.used > 0 || c.whole
}

// explain marks a cable as one that a finding is about.
func (c *cable) explain() {
	c.used = c.capacity()
}

// other is the end of the cable that does not have p.
func (c *cable) other(p port) port {
	if c.ports[p] {
		return c.a
	}
	return c.b
}

// joins reports whether a cable leads from one end of a link to the other.
func (c *cable) joins(w wanted) bool {
	has := func(p port, atB bool) bool {
		if p.id != "" {
			at, ok := c.ports[p]
			return ok && at == atB
		}
		if atB {
			return c.b.node == p.node
		}
		return c.a.node == p.node
	}
	return has(w.a, false) && has(w.b, true) || has(w.a, true) && has(w.b, false)
}

// isOneWay reports whether only one end of a cable says that it is there, though both are devices that would.
func (c *cable) isOneWay() bool {
	bothReport := c.a.node.reports() && c.b.node.reports()
	return !c.inferred && bothReport && (c.oneSided || !c.byA || !c.byB)
}

// collectCables makes one cable of the two directions of a link. What leads from a port to itself is none.
func collectCables(f *Found) []*cable {
	byEnds := map[[2]string]*cable{}
	var out []*cable
	for _, l := range f.Links {
		source, dest := f.Nodes[l.SourceNode], f.Nodes[l.DestNode]
		key := [2]string{l.SourceNode + "\x00" + l.SourcePort, l.DestNode + "\x00" + l.DestPort}
		if source == nil || dest == nil || key[0] == key[1] {
			continue
		}
		turned := key[0] > key[1]
		if turned {
			key[0], key[1] = key[1], key[0]
			source, dest = dest, source
			l.SourcePort, l.DestPort = l.DestPort, l.SourcePort
			l.SourceMembers, l.DestMembers = l.DestMembers, l.SourceMembers
		}
		x := byEnds[key]
		if x == nil {
			x = newCable(port{source, l.SourcePort}, port{dest, l.DestPort})
			x.inferred = true
			byEnds[key] = x
			out = append(out, x)
		}
		x.byA = x.byA || turned
		x.byB = x.byB || !turned
		x.inferred = x.inferred && l.Inferred
		x.oneSided = x.oneSided || l.OneSided
		x.addMembers(l.SourceMembers, l.DestMembers)
	}
	slices.SortFunc(out, compareCables)
	return out
}

func newCable(a, b port) *cable {
	return &cable{
		a:        a,
		b:        b,
		ports:    map[port]bool{a: false, b: true},
		membersA: map[port]bool{},
		membersB: map[port]bool{},
		taken:    map[port]bool{},
		text:     a.String() + " -- " + b.String(),
	}
}

func (c *cable) addMembers(atA, atB []string) {
	for _, id := range atA {
		p := port{c.a.node, id}
		c.ports[p] = false
		c.membersA[p] = true
	}
	for _, id := range atB {
		p := port{c.b.node, id}
		c.ports[p] = true
		c.membersB[p] = true
	}
}
