package yang

// What a condition depends on is worked out from the schema, so that a change is checked as far as it can matter: an entry
// of a list by itself, where no condition in the list looks beyond its entry.

// LooksElsewhere reports whether a condition at or below a node looks at other top-level nodes.
func (n *Node) LooksElsewhere() bool { return n.elsewhere }

// LooksBeyondEntries reports whether a condition at or below a node looks out of the entry of a list with keys that it
// stands in, or into such a list from outside.
func (n *Node) LooksBeyondEntries() bool { return n.beyond }

// reaches notes how far the conditions of a node look.
func (c *compiler) reaches(n *Node) {
	entry := n
	for entry != nil && !entry.Keyed() {
		entry = entry.DataParent()
	}
	for _, list := range [][]*constraint{n.musts, n.conditions} {
		for _, x := range list {
			n.elsewhere = n.elsewhere || x.expr.absolute
			from := n
			if x.above {
				from = n.DataParent()
			}
			r := reach{entry: entry}
			r.look(&x.expr.root, from)
			n.beyond = n.beyond || r.far
		}
	}
}

// reach follows an expression through the schema.
type reach struct {
	entry *Node // what it should stay in; nil: outside of all lists with keys
	far   bool
}

func (r *reach) look(x *xnode, at *Node) {
	switch x.kind {
	case xPath:
		if x.op == "/" {
			r.far = true
			return
		}
		r.steps(x.args, at)
	case xJoin:
		if f := x.args[0]; f.kind != xFunction || f.op != "current" {
			r.far = true
			return
		}
		r.steps(x.args[1].args, at)
	case xFunction:
		if x.op == "deref" {
			r.far = true
			return
		}
		fallthrough
	default:
		for i := range x.args {
			r.look(&x.args[i], at)
		}
	}
}

func (r *reach) steps(steps []xnode, at *Node) {
	for i := range steps {
		s := &steps[i]
		switch s.op {
		case "self":
		case "parent":
			if at == nil || at == r.entry {
				r.far = true
				return
			}
			at = at.DataParent()
		case "child":
			var next *Node
			if at != nil {
				for _, m := range at.members {
					if m.Name == s.name && (s.module == "" || m.Module == s.module) {
						next = m
					}
				}
			}
			if next == nil || next.Keyed() && r.entry == nil {
				r.far = true
				return
			}
			at = next
		default:
			r.far = true
			return
		}
		for j := range s.args {
			r.look(&s.args[j], at)
		}
	}
}
