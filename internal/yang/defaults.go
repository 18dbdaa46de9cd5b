package yang

import "slices"

// HasDefaults reports whether a default may stand for something at or below the node.
func (n *Node) HasDefaults() bool {
	return len(n.defs) > 0 || slices.ContainsFunc(n.members, (*Node).HasDefaults)
}

// AddDefaults adds the defaults that are in use below d (RFC 7950 section 7.6.1), of those nodes that are wanted, with
// an origin. d must be valid.
func (d *Data) AddDefaults(o Origin, want func(*Node) bool) {
	v := validator{
		Options: Options{
			Defaults: true,
			Partial:  true,
			Shallow:  true,
		},
		a:      &arena{},
		origin: o,
		want:   want,
	}
	v.addDefaults(d)
}

// AddDefault adds to d what defaults put in the place of its absent member n, and returns it; nil if there are none.
func (d *Data) AddDefault(n *Node, o Origin, want func(*Node) bool) *Data {
	if !hasDefault(n) || n.Parent != nil && n.Parent.Kind == Case {
		return nil
	}
	v := validator{
		Options: Options{
			Defaults: true,
			Partial:  true,
			Shallow:  true,
		},
		a:      &arena{},
		origin: o,
		want:   want,
	}
	v.handleAbsent(d, n, newSeenSet(d.Node), nil)
	return d.Get(n)
}

func (v *validator) addDefaults(d *Data) {
	switch {
	case d.Node == nil || d.Node.IsLeaf() || d.Node.Kind == AnyData:
		return
	case d.kind == jArray:
		for e := d.first; e != nil; e = e.next {
			v.addDefaults(e)
		}
		return
	}
	seen := newSeenSet(d.Node)
	for c := d.first; c != nil; c = c.next {
		if c.Node != nil {
			seen.setIndex(c.Node.slot)
			v.addDefaults(c)
		}
	}
	v.checkComplete(d, d.Node, seen)
}

// AddContainers adds the containers below d that lead to lists with keys, outside of such lists, so that an instance which
// was read without its lists has a place for each. A container that its lists alone bring about, because it has presence or
// is in a case, is added if want says that there are some.
func (d *Data) AddContainers(want func(at *Data, n *Node) bool) {
	if d.Node.IsLeaf() || d.Node.Keyed() {
		return
	}
	for _, m := range d.Node.members {
		if m.Kind != Container ||
			m.Config != d.Node.Config && d.Node.Kind != Root ||
			!m.leadsToLists() {
			continue
		}
		c := d.Get(m)
		always := !m.Presence && (m.Parent == nil || m.Parent.Kind != Case)
		if c == nil && (always || want(d, m)) {
			c = &Data{
				Node:   m,
				kind:   jObject,
				name:   m.Name,
				origin: Default,
			}
			d.addChild(c)
		}
		if c != nil {
			c.AddContainers(want)
		}
	}
}

func (n *Node) leadsToLists() bool {
	return n.listsHere ||
		slices.ContainsFunc(n.members, func(m *Node) bool {
			return m.Kind == Container && m.leadsToLists()
		})
}
