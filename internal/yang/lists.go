package yang

import (
	"strings"

	"ctl.internal/sdk/fault"
)

// resolveList resolves the keys and unique statements of a list. A configuration list
// without keys is against RFC 7950 section 7.8.2, but models that users rely on
// have them, so they are let through.
func (c *compiler) resolveList(n *Node) {
	if k := n.raw.key; k != nil {
		for name := range strings.FieldsSeq(k.arg) {
			prefix, local := splitPrefix(name)
			module := n.Module
			m := k.moduleOf(prefix)
			if prefix != "" && m != nil {
				module = m.name
			}
			leaf := n.childNamed(module, local)
			switch {
			case leaf == nil || leaf.Kind != Leaf || leaf.Parent != n:
				c.addFault(k, "the key %q of list %q is not one of its leaves", local, n.Name)
				continue
			case leaf.key:
				c.addFault(k, "the key %q of list %q is there twice", local, n.Name)
				continue
			case leaf.raw != nil && (len(leaf.raw.whens) > 0 || k.file.old && leaf.Type.Base == Empty):
				c.addFault(k, "the key %q of list %q can be absent, or has no value", local, n.Name)
			case leaf.Config != n.Config:
				c.addFault(
					k,
					"the key %q of list %q must have the same config as the list",
					local,
					n.Name,
				)
			}
			leaf.Mandatory, leaf.key, leaf.Default = true, true, nil
			n.Keys = append(n.Keys, leaf)
		}
	}
	for _, u := range n.raw.unique {
		var group [][]*Node
		for path := range strings.FieldsSeq(u.arg) {
			if steps := n.descendPath(path, u); steps != nil {
				group = append(group, steps)
				continue
			}
			c.addFault(u, "unique names %q, which is not a leaf below list %q", path, n.Name)
		}
		n.unique = append(n.unique, group)
	}
}

// childNamed returns the schema child of a name, looking through choices and cases.
func (n *Node) childNamed(module, name string) *Node {
	for _, c := range n.Children {
		if c.Kind == Choice || c.Kind == Case {
			if d := c.childNamed(module, name); d != nil {
				return d
			}
		} else if c.Name == name && c.Module == module {
			return c
		}
	}
	return nil
}

// descendPath resolves a descendant schema path to a leaf (RFC 7950 section 7.8.3).
func (n *Node) descendPath(path string, u *statement) []*Node {
	var steps []*Node
	module := n.Module
	for step := range strings.SplitSeq(path, "/") {
		prefix, name := splitPrefix(step)
		at := module
		m := u.moduleOf(prefix)
		if prefix != "" && m != nil {
			at = m.name
		}
		down := n.childNamed(at, name)
		if down == nil { // choices and cases are steps of such a path
			down = n.choiceOrCase(at, name)
		}
		if n = down; n == nil {
			return nil
		}
		if n.Kind != Choice && n.Kind != Case {
			steps = append(steps, n)
		}
	}
	if n.Kind != Leaf {
		return nil
	}
	return steps
}

// choiceOrCase returns the choice or case of a name.
func (n *Node) choiceOrCase(module, name string) *Node {
	for _, c := range n.Children {
		if (c.Kind == Choice || c.Kind == Case) && c.Name == name && c.Module == module {
			return c
		}
	}
	return nil
}

// splitPrefix parts prefix:name; the prefix is empty for a name without prefix.
func splitPrefix(s string) (prefix, name string) {
	prefix, name, ok := strings.Cut(s, ":")
	if !ok {
		return "", s
	}
	return prefix, name
}

// finishAll builds the tables that validation uses, over every tree of the set.
func (c *compiler) finishAll() {
	c.indexChildren(c.set.Root)
	c.readings()
	for _, m := range c.set.modules {
		for _, r := range m.RPCs {
			c.indexChildren(r.Input)
			c.indexChildren(r.Output)
		}
		for _, n := range m.Notifications {
			c.indexChildren(n)
		}
	}
	for _, r := range c.actions {
		c.indexChildren(r.Input)
		c.indexChildren(r.Output)
	}
}

func (c *compiler) indexChildren(n *Node) {
	n.index = map[string]*Node{}
	clash := map[string]bool{}
	c.flattenChildren(n, n, clash)
	for name := range clash { // without a module a name is one of the module of what is around it (RFC 7951 section 4)
		delete(n.index, name)
		own := n.index[n.Module+":"+name]
		if own != nil && n.Kind != Root {
			n.index[name] = own
		}
	}
	for _, m := range n.members {
		m.kept = m.bare
		if n.index[m.Name] != m || n.Kind != Root && n.Module != m.Module {
			m.kept = m.full
		}
		if !m.IsLeaf() && m.Kind != AnyData {
			c.indexChildren(m)
		}
		c.parseDefaults(m)
		m.refers = m.refers || m.IsLeaf() && m.Config && len(m.Type.References()) > 0
		n.refers = n.refers || m.refers
		m.conditions = m.whens
		for p := m.Parent; p != nil && (p.Kind == Choice || p.Kind == Case); p = p.Parent {
			m.conditions = append(m.conditions[:len(m.conditions):len(m.conditions)], p.whens...)
		}
		m.constrains = m.constrains || len(m.musts)+len(m.conditions) > 0 || m.conditionalReference()
		c.noteReach(m)
		n.constrains = n.constrains || m.constrains
		n.elsewhere = n.elsewhere || m.elsewhere
		n.listsHere = n.listsHere || m.Keyed()
	}
	n.constrains = n.constrains || len(n.musts) > 0
	if n.Kind != Root && n.Parent == nil {
		c.noteReach(n)
	}
	for _, m := range n.Notifications {
		c.indexChildren(m)
	}
	for _, x := range n.choices {
		if x.Parent == nil || x.Parent.Kind != Case { // nested ones are reached through it
			n.need = append(n.need, x)
		}
	}
	for _, m := range n.members {
		if (m.Parent == nil || m.Parent.Kind != Case) && mattersWhenAbsent(m) {
			n.need = append(n.need, m)
		}
	}
}

// flattenChildren collects the data children of at (n, or a choice or case in it) for n.
func (c *compiler) flattenChildren(n, at *Node, clash map[string]bool) {
	for _, child := range at.Children {
		switch child.Kind {
		case Choice:
			child.choice = len(n.choices)
			n.choices = append(n.choices, child)
			c.flattenChildren(n, child, clash)
			continue
		case Case:
			c.flattenChildren(n, child, clash)
			continue
		}
		child.slot = len(n.members)
		n.members = append(n.members, child)
		if o := n.index[child.Name]; o != nil {
			clash[child.Name] = true
			if o.Module == child.Module {
				place := child
				if place.defined == nil {
					place = o
				}
				c.faults = append(
					c.faults,
					fault.At(
						fault.Invalid,
						place.definedAt(),
						"two nodes in %[2]s %[3]q have the name %[1]q: the other is at %[4]s",
						child.QName(),
						n.Kind,
						n.Name,
						o.definedAt(),
					),
				)
			}
		}
		n.index[child.Name] = child
		n.index[child.QName()] = child
	}
}
