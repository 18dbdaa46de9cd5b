package yang

import (
	"fmt"
	"slices"
	"strings"
)

// expandUses expands a grouping below parent, then refines and augments it.
func (c *compiler) expandUses(s *statement, parent *Node, f *file) {
	if !c.isEnabled(s) {
		return
	}
	g := s.findDefinition("grouping", s.arg)
	if g == nil {
		c.addFault(s, "there is no grouping %q%s", s.arg, c.unknownPrefix(s, s.arg))
		return
	}
	if c.active[g] {
		c.addFault(s, "the grouping %q refers to itself", s.arg)
		return
	}
	c.active[g] = true
	defer delete(c.active, g)
	from := len(parent.Children)
	c.compileChildren(g, parent, f)
	added := func() *Node {
		return &Node{
			Children:      parent.Children[from:],
			Actions:       parent.Actions,
			Notifications: parent.Notifications,
		}
	}
	denials := annotate(nil, s)
	for _, n := range added().Children {
		n.denyAs(denials)
	}
	if w := s.firstSub("when"); w != nil {
		for _, n := range added().Children {
			n.raw.whens = append(n.raw.whens, when{w, true})
		}
	}
	for _, sub := range s.sub {
		if sub.keyword != "refine" && sub.keyword != "augment" {
			continue
		}
		switch n := c.nodeBelow(added(), sub, sub.arg, f.name); {
		case n == nil:
			c.addFault(sub, "the grouping %q has no node %q", s.arg, sub.arg)
		case sub.keyword == "refine":
			c.refineNode(n, sub)
		case c.isEnabled(sub):
			c.extendTarget(n, sub, f)
		}
	}
}

func (c *compiler) refineNode(n *Node, r *statement) {
	if !c.isEnabled(r) {
		n.detach()
		return
	}
	if d := firstArgument(r, "description"); d != "" {
		n.Description = d
	}
	switch {
	case r.firstSub("presence") != nil && n.Kind != Container,
		r.firstSub("default") != nil && !n.IsLeaf() && n.Kind != Choice,
		(r.firstSub("min-elements") != nil || r.firstSub("max-elements") != nil) && !n.IsList(),
		r.firstSub("mandatory") != nil && n.Kind != Leaf && n.Kind != Choice && n.Kind != AnyData:
		c.addFault(r, "a %s cannot be refined so", n.Kind)
	}
	n.Annotations = annotate(n.Annotations, r)
	c.setProperties(n, r)
}

// detach takes a node out of its parent.
func (n *Node) detach() {
	if n.Parent != nil {
		n.Parent.Children = slices.DeleteFunc(n.Parent.Children, func(o *Node) bool {
			return o == n
		})
	}
}

// nodeBelow follows a schema node identifier down from a node; names without a prefix are of a module.
func (c *compiler) nodeBelow(n *Node, s *statement, path, module string) *Node {
	for step := range strings.SplitSeq(path, "/") {
		prefix, name := splitPrefix(strings.TrimSpace(step))
		at := module
		if prefix != "" {
			m := s.moduleOf(prefix)
			if m == nil {
				return nil
			}
			if at = m.name; prefix == s.file.ownPrefix() && s.file.module.name != module {
				at = module // the nodes of a grouping are of the module that uses it
			}
		}
		if n = n.schemaChild(at, name); n == nil {
			return nil
		}
	}
	return n
}

// schemaChild returns a child by name, choices and cases being children, too, and the parts of actions.
func (n *Node) schemaChild(module, name string) *Node {
	for _, list := range [][]*Node{n.Children, n.Notifications} {
		for _, m := range list {
			if m.Name == name && m.Module == module {
				return m
			}
		}
	}
	for _, r := range n.Actions {
		if r.Name == name && r.Module == module {
			return r.asNode()
		}
	}
	return nil
}

// asNode is an operation as a node whose children are input and output.
func (r *RPC) asNode() *Node {
	return &Node{
		Kind:     Case,
		Name:     r.Name,
		Module:   r.Module,
		Children: []*Node{r.Input, r.Output},
	}
}

// definedAt is the place of a node's statement.
func (n *Node) definedAt() string {
	s := n.defined
	if n.raw != nil {
		s = n.raw.stmt
	}
	if s == nil {
		return n.QName()
	}
	return fmt.Sprintf("%s:%d", s.file.path, s.line)
}
