package yang

import "slices"

// HasDefaults reports whether a default may stand for something at or below the node.
func (n *Node) HasDefaults() bool {
	return len(n.defs) > 0 || slices.ContainsFunc(n.members, (*Node).HasDefaults)
}

// AddDefaults adds the defaults that are in use below d (RFC 7950 section 7.6.1), of those nodes that are wanted, with
// an origin. d must be valid.
func (d *Data) AddDefaults(o Origin, want func(*Node) bool) {
	v := validator{Options: Options{Defaults: true, Partial: true, Shallow: true}, a: &arena{}, origin: o, want: want}
	v.addDefaults(d)
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
			seen.set(c.Node.slot)
			v.addDefaults(c)
		}
	}
	v.complete(d, d.Node, seen)
}
