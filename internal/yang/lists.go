package yang

import (
	"strings"

	gy "github.com/openconfig/goyang/pkg/yang"

	"ctl.internal/sdk/fault"
)

// list resolves the keys and unique statements of a list. A configuration list
// without keys is against RFC 7950 section 7.8.2, but models that users rely on
// have them, so they are let through.
func (c *compiler) list(e *gy.Entry, n *Node) {
	stmt := e.Node.Statement()
	for name := range strings.FieldsSeq(e.Key) {
		_, name = prefixed(name)
		k := n.child(name)
		if k == nil || k.Kind != Leaf {
			c.faults = append(c.faults, at(stmt, "the key %q of list %q is not one of its leaves", name, n.Name))
			continue
		}
		k.Mandatory, k.key, k.Default = true, true, nil
		n.Keys = append(n.Keys, k)
	}
	for _, x := range e.Extra["unique"] {
		v, ok := x.(*gy.Value)
		if !ok {
			continue
		}
		var group [][]*Node
		for path := range strings.FieldsSeq(v.Name) {
			if steps := n.descend(path); steps != nil {
				group = append(group, steps)
				continue
			}
			c.faults = append(c.faults, at(v.Statement(), "unique names %q, which is not a leaf below list %q", path, n.Name))
		}
		n.unique = append(n.unique, group)
	}
}

// child returns the schema child of a name, looking through choices and cases.
func (n *Node) child(name string) *Node {
	for _, c := range n.Children {
		if c.Kind == Choice || c.Kind == Case {
			if d := c.child(name); d != nil {
				return d
			}
		} else if c.Name == name {
			return c
		}
	}
	return nil
}

// descend resolves a descendant schema path to a leaf (RFC 7950 section 7.8.3).
func (n *Node) descend(path string) []*Node {
	var steps []*Node
	for step := range strings.SplitSeq(path, "/") {
		_, name := prefixed(step)
		if n = n.child(name); n == nil {
			return nil
		}
		steps = append(steps, n)
	}
	if n.Kind != Leaf {
		return nil
	}
	return steps
}

// prefixed parts prefix:name; the prefix is empty for a name without prefix.
func prefixed(s string) (prefix, name string) {
	prefix, name, ok := strings.Cut(s, ":")
	if !ok {
		return "", s
	}
	return prefix, name
}

// finishAll builds the tables that validation uses, over every tree of the set.
func (c *compiler) finishAll() {
	c.finish(c.set.Root)
	for _, m := range c.set.modules {
		for _, r := range m.RPCs {
			c.finish(r.Input)
			c.finish(r.Output)
		}
		for _, n := range m.Notifications {
			c.finish(n)
		}
	}
}

func (c *compiler) finish(n *Node) {
	n.index = map[string]*Node{}
	clash := map[string]bool{}
	c.flatten(n, n, clash)
	for name := range clash {
		delete(n.index, name)
	}
	for _, m := range n.members {
		m.kept = m.bare
		if n.index[m.Name] == nil || n.Kind != Root && n.Module != m.Module {
			m.kept = m.full
		}
		if !m.IsLeaf() && m.Kind != AnyData {
			c.finish(m)
		}
		c.parseDefaults(m)
		m.refers = m.refers || m.IsLeaf() && m.Config && len(m.Type.References()) > 0
		n.refers = n.refers || m.refers
	}
	for _, x := range n.choices {
		if x.Parent == nil || x.Parent.Kind != Case { // nested ones are reached through it
			n.need = append(n.need, x)
		}
	}
	for _, m := range n.members {
		if (m.Parent == nil || m.Parent.Kind != Case) && matters(m) {
			n.need = append(n.need, m)
		}
	}
}

// flatten collects the data children of at (n, or a choice or case in it) for n.
func (c *compiler) flatten(n, at *Node, clash map[string]bool) {
	for _, child := range at.Children {
		switch child.Kind {
		case Choice:
			child.choice = len(n.choices)
			n.choices = append(n.choices, child)
			c.flatten(n, child, clash)
			continue
		case Case:
			c.flatten(n, child, clash)
			continue
		}
		child.slot = len(n.members)
		n.members = append(n.members, child)
		if o := n.index[child.Name]; o != nil {
			clash[child.Name] = true
			if o.Module == child.Module {
				c.faults = append(c.faults, fault.New(fault.Invalid, "two nodes in %[2]s %[3]q have the name %[1]q", child.QName(), n.Kind, n.Name))
			}
		}
		n.index[child.Name] = child
		n.index[child.QName()] = child
	}
}
