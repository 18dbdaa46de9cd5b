package yang

import "slices"

// mattersWhenAbsent reports whether the absence of a node means something: it is required,
// or a default stands for it.
func mattersWhenAbsent(n *Node) bool {
	return isRequired(n) || hasDefault(n)
}

// isRequired reports whether an instance without the node is invalid.
func isRequired(n *Node) bool {
	switch n.Kind {
	case Choice:
		if n.Mandatory {
			return true
		}
		if cs := n.defaultCase(); cs != nil {
			return isRequired(cs)
		}
		return false
	case Case:
		return slices.ContainsFunc(n.Children, isRequired)
	case Container:
		return !n.Presence && slices.ContainsFunc(n.Children, isRequired)
	case List, LeafList:
		return n.Min > 0
	}
	return n.Mandatory
}

// hasDefault reports whether defaults stand for an absent node.
func hasDefault(n *Node) bool {
	switch n.Kind {
	case Leaf, LeafList:
		return len(n.Default) > 0 && n.Min == 0
	case Container:
		return !n.Presence && slices.ContainsFunc(n.Children, hasDefault)
	case Case:
		return slices.ContainsFunc(n.Children, hasDefault)
	case Choice:
		cs := n.defaultCase()
		return cs != nil && hasDefault(cs)
	}
	return false
}

func (n *Node) defaultCase() *Node {
	if len(n.Default) == 0 {
		return nil
	}
	for _, c := range n.Children {
		if c.Name == n.Default[0] {
			return c
		}
	}
	return nil
}

// defaultValue is a default, parsed once at load.
type defaultValue struct {
	kind jsonKind
	text string
	typ  *Type
}

// parseDefaults checks that the defaults of a leaf have its type.
func (c *compiler) parseDefaults(n *Node) {
	if !n.IsLeaf() {
		return
	}
	for i, s := range n.Default {
		if i >= len(n.defaultsAt) {
			break
		}
		s = c.defaultText(n.defaultsAt[i], n.Type)
		n.Default[i] = s
		d := Data{kind: jString, text: s, Node: n}
		if n.Type.Base == Empty {
			d.kind = jNull
		}
		if why := n.Type.canonicalizeValue(&d, n, anyForm); why != "" {
			c.addFault(
				n.defaultsAt[i],
				"the default %q of %s %q is not of its type: %s",
				s,
				n.Kind,
				n.QName(),
				why,
			)
			continue
		}
		n.defs = append(n.defs, defaultValue{d.kind, d.text, d.typ})
	}
}
