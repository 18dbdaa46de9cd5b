package yang

// What a condition reads is worked out from the schema, so that a change is checked as far as it can matter. The unit of a
// check is an entry of a list with keys that no other such list is around, or all that is outside of such lists.

// condition is what a must, a when or a reference of a node reads.
type condition struct {
	unit  *Node   // the list whose entries are the unit of the node; nil outside of lists with keys
	reads []*Node // what it reads outside of its unit
	wide  bool    // it may read anything
}

// Affected returns which conditions at or below a top-level node a change of instances of some nodes can matter to, beside
// those of the units that changed: those outside of lists with keys, and those of all entries of some lists.
func (n *Node) Affected(changed []*Node) (outside bool, lists []*Node) {
	seen := map[*Node]bool{}
	for _, c := range n.reading {
		if seen[c.unit] || !c.affected(changed) {
			continue
		}
		seen[c.unit] = true
		if c.unit == nil {
			outside = true
			continue
		}
		lists = append(lists, c.unit)
	}
	return outside, lists
}

func (c *condition) affected(changed []*Node) bool {
	if c.wide {
		return len(changed) > 0
	}
	for _, read := range c.reads {
		for _, n := range changed {
			if n.holds(read) || read.holds(n) {
				return true
			}
		}
	}
	return false
}

// holds reports whether instances of other are at or below those of n.
func (n *Node) holds(other *Node) bool {
	for ; other != nil; other = other.DataParent() {
		if other == n {
			return true
		}
	}
	return false
}

// noteReach notes whether the conditions of a node look at other top-level nodes.
func (c *compiler) noteReach(n *Node) {
	for _, list := range [][]*constraint{n.musts, n.conditions} {
		for _, x := range list {
			n.elsewhere = n.elsewhere || x.expr.absolute
		}
	}
}

// readings works out what the conditions of the configuration read.
func (c *compiler) readings() {
	for _, top := range c.set.Root.members {
		if top.constrains && top.Config {
			c.readingsBelow(top, top, nil)
		}
	}
}

func (c *compiler) readingsBelow(top, n, unit *Node) {
	if unit == nil && n.Keyed() {
		unit = n
	}
	for _, list := range [][]*constraint{n.musts, n.conditions} {
		for _, x := range list {
			from := n
			if x.above {
				from = n.DataParent()
			}
			r := newReading(c.set, n.Module, unit, from)
			if x.above && n == unit {
				r.current.far = true
			}
			r.look(&x.expr.root, r.current)
			top.reading = append(top.reading, r.out)
		}
	}
	if n.conditionalReference() {
		r := newReading(c.set, n.Module, unit, n)
		r.end(r.deref([]place{r.current}))
		top.reading = append(top.reading, r.out)
	}
	for _, m := range n.members {
		if m.Config && m.constrains {
			c.readingsBelow(top, m, unit)
		}
	}
}

// reading follows an expression through the schema.
type reading struct {
	set     *Set
	module  string // of names without a prefix
	unit    *Node
	current place
	out     *condition
	seen    map[*Node]bool
	depth   int
}

// place is where an expression has come to: at instances of a node, nil above all top-level nodes.
type place struct {
	node *Node
	far  bool // they may be outside of the unit
}

func newReading(set *Set, module string, unit, from *Node) *reading {
	return &reading{
		set:     set,
		module:  module,
		unit:    unit,
		current: place{node: from, far: from == nil},
		out:     &condition{unit: unit},
		seen:    map[*Node]bool{},
	}
}

// look notes what an expression reads that is evaluated at a place, and returns where it leads.
func (r *reading) look(x *xnode, at place) []place {
	switch x.kind {
	case xPath:
		if x.op == "/" {
			at = place{far: true}
		}
		return r.end(r.steps(x.args, []place{at}))
	case xJoin:
		return r.end(r.steps(x.args[1].args, r.look(&x.args[0], at)))
	case xFilter:
		places := r.look(&x.args[0], at)
		r.predicates(x.args[1:], places)
		return places
	case xFunction:
		switch {
		case x.op == "current":
			return r.end([]place{r.current})
		case x.op == "deref":
			return r.end(r.deref(r.look(&x.args[0], at)))
		case len(x.args) == 0:
			r.end([]place{at}) // the node that it is evaluated at
		}
	}
	var all []place
	for i := range x.args {
		all = append(all, r.look(&x.args[i], at)...)
	}
	if x.kind == xOperator && x.op == "|" {
		return all
	}
	return nil
}

// end notes that the instances at these places are read.
func (r *reading) end(places []place) []place {
	for _, p := range places {
		switch {
		case !p.far || r.seen[p.node]:
		case p.node == nil:
			r.out.wide = true
		default:
			r.seen[p.node] = true
			r.out.reads = append(r.out.reads, p.node)
		}
	}
	return places
}

func (r *reading) predicates(list []xnode, places []place) {
	for i := range list {
		for _, p := range places {
			r.look(&list[i], p)
		}
	}
}

func (r *reading) steps(steps []xnode, places []place) []place {
	for i := range steps {
		var next []place
		for _, p := range places {
			next = append(next, r.step(&steps[i], p)...)
		}
		places = next
		r.predicates(steps[i].args, places)
	}
	return places
}

func (r *reading) step(s *xnode, p place) (out []place) {
	switch {
	case s.op == "self":
		return []place{p}
	case s.op == "parent" && p.node != nil:
		up := p.node.DataParent()
		return []place{{up, p.far || p.node == r.unit || up == nil}}
	case s.op != "child":
		r.out.wide = true
		return nil
	}
	members := r.set.Root.members
	if p.node != nil {
		members = p.node.members
	}
	for _, m := range members {
		if s.name == "*" || s.name == "node()" || s.name == m.Name && m.Module == r.moduleOf(s) {
			out = append(out, place{m, p.far || r.unit == nil && m.Keyed()})
		}
	}
	return out
}

func (r *reading) moduleOf(s *xnode) string {
	if s.module != "" {
		return s.module
	}
	return r.module
}

// maxDerefs bounds references that lead to references.
const maxDerefs = 8

// deref returns where the references at some places lead.
func (r *reading) deref(places []place) (out []place) {
	if r.depth++; r.depth > maxDerefs {
		r.out.wide = true
		return nil
	}
	defer func() { r.depth-- }()
	current, module := r.current, r.module
	for _, p := range places {
		if p.node == nil || !p.node.IsLeaf() {
			continue
		}
		for _, t := range p.node.Type.unionMembers() {
			switch {
			case t.Base == InstanceIdentifier:
				r.out.wide = true
			case t.Base == Leafref && t.expr != nil:
				r.current, r.module = p, p.node.Module
				out = append(out, r.look(&t.expr.root, p)...)
				r.current, r.module = current, module
			}
		}
	}
	return out
}
