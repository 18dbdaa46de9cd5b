package yang

import (
	"fmt"
	"slices"
	"strings"
)

// uses expands a grouping below parent, then refines and augments it.
func (c *compiler) uses(s *statement, parent *Node, f *file) {
	if !c.enabled(s) {
		return
	}
	g := s.find("grouping", s.arg)
	if g == nil {
		c.fault(s, "there is no grouping %q%s", s.arg, c.unknownPrefix(s, s.arg))
		return
	}
	if c.active[g] {
		c.fault(s, "the grouping %q refers to itself", s.arg)
		return
	}
	c.active[g] = true
	defer delete(c.active, g)
	from := len(parent.Children)
	c.children(g, parent, f)
	added := func() *Node {
		return &Node{Children: parent.Children[from:], Actions: parent.Actions, Notifications: parent.Notifications}
	}
	if w := s.one("when"); w != nil {
		for _, n := range added().Children {
			n.raw.whens = append(n.raw.whens, when{w, true})
		}
	}
	for _, sub := range s.sub {
		if sub.keyword != "refine" && sub.keyword != "augment" {
			continue
		}
		switch n := c.below(added(), sub, sub.arg, f.name); {
		case n == nil:
			c.fault(sub, "the grouping %q has no node %q", s.arg, sub.arg)
		case sub.keyword == "refine":
			c.refine(n, sub)
		case c.enabled(sub):
			c.extend(n, sub, f)
		}
	}
}

func (c *compiler) refine(n *Node, r *statement) {
	if !c.enabled(r) {
		n.detach()
		return
	}
	if d := argument(r, "description"); d != "" {
		n.Description = d
	}
	switch {
	case r.one("presence") != nil && n.Kind != Container,
		r.one("default") != nil && !n.IsLeaf() && n.Kind != Choice,
		(r.one("min-elements") != nil || r.one("max-elements") != nil) && !n.IsList(),
		r.one("mandatory") != nil && n.Kind != Leaf && n.Kind != Choice && n.Kind != AnyData:
		c.fault(r, "a %s cannot be refined so", n.Kind)
	}
	n.Annotations = annotate(n.Annotations, r)
	c.properties(n, r)
}

// detach takes a node out of its parent.
func (n *Node) detach() {
	if n.Parent != nil {
		n.Parent.Children = slices.DeleteFunc(n.Parent.Children, func(o *Node) bool { return o == n })
	}
}

// below follows a schema node identifier down from a node; names without a prefix are of a module.
func (c *compiler) below(n *Node, s *statement, path, module string) *Node {
	for step := range strings.SplitSeq(path, "/") {
		prefix, name := prefixed(strings.TrimSpace(step))
		at := module
		if prefix != "" {
			m := s.moduleOf(prefix)
			if m == nil {
				return nil
			}
			if at = m.name; prefix == s.file.prefix() && s.file.module.name != module {
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
	return &Node{Kind: Case, Name: r.Name, Module: r.Module, Children: []*Node{r.Input, r.Output}}
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
