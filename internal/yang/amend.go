package yang

import (
	"fmt"
	"slices"
	"strings"
)

// pendingAugment is an augment whose target may be made by another one.
type pendingAugment struct {
	stmt   *statement
	module *file
}

func (c *compiler) applyAugments() {
	left := c.augments
	for len(left) > 0 {
		var later []*pendingAugment
		for _, a := range left {
			if !c.isEnabled(a.stmt) {
				continue
			}
			n, why := c.findTarget(a.stmt)
			switch {
			case why != "":
				c.addFault(a.stmt, "augment %q: %s", a.stmt.arg, why)
			case n == nil:
				later = append(later, a)
			default:
				c.extendTarget(n, a.stmt, a.module)
			}
		}
		if len(later) == len(left) {
			for _, a := range later {
				c.addFault(a.stmt, "the target %q of the augment is not there", a.stmt.arg)
			}
		}
		if left = later; len(c.faults) > 0 {
			return
		}
	}
}

// findTarget finds the node of an absolute schema node identifier; nil if it is not there (yet).
func (c *compiler) findTarget(s *statement) (n *Node, why string) {
	path, absolute := strings.CutPrefix(s.arg, "/")
	if !absolute {
		return nil, "a target begins with a slash"
	}
	first, rest, deeper := strings.Cut(path, "/")
	prefix, name := splitPrefix(strings.TrimSpace(first))
	f := s.moduleOf(prefix)
	if f == nil {
		return nil, fmt.Sprintf("no import has the prefix %q", prefix)
	}
	m := c.set.byName[f.name]
	top := &Node{
		Kind:          Root,
		Children:      m.Data,
		Notifications: m.Notifications,
		Actions:       m.RPCs,
	}
	n = top.schemaChild(f.name, name)
	if n == nil || !deeper {
		return n, ""
	}
	return c.nodeBelow(n, s, rest, s.file.module.name), ""
}

// extendTarget adds what an augment has to its target.
func (c *compiler) extendTarget(n *Node, s *statement, f *file) {
	switch n.Kind {
	case Container, List, Choice, Case, Input, Output, Notification:
	default:
		c.addFault(s, "a %s cannot be augmented", n.Kind)
		return
	}
	from := len(n.Children)
	for _, sub := range s.sub {
		if sub.keyword == "case" && n.Kind != Choice {
			c.addFault(sub, "only a choice has cases")
			continue
		}
		c.compileChild(sub, n, f)
	}
	w := s.firstSub("when")
	denials := annotate(nil, s)
	for _, added := range n.Children[from:] {
		added.denyAs(denials)
		if w != nil {
			added.raw.whens = append(added.raw.whens, when{w, true})
		}
		for _, o := range n.Children[:from] {
			if o.Name == added.Name && o.Module == added.Module {
				c.addFault(
					added.raw.stmt,
					"the augment adds %q to %s %q, which has it already: %s",
					added.Name,
					n.Kind,
					n.Name,
					o.definedAt(),
				)
			}
		}
	}
}

// applyDeviations applies the deviations of all modules (RFC 7950 section 7.20.3).
func (c *compiler) applyDeviations() {
	for _, f := range c.lib.order {
		for _, body := range f.moduleBodies() {
			for _, s := range body.subsWithKeyword("deviation") {
				n, why := c.findTarget(s)
				if n == nil {
					c.addFault(s, "the target %q of the deviation is not there%s", s.arg, why)
					continue
				}
				for _, d := range s.subsWithKeyword("deviate") {
					c.deviateOne(n, d)
				}
			}
		}
	}
	for _, m := range c.set.modules { // what not-supported took away at the top
		gone := func(n *Node) bool { return n.gone }
		m.Data, m.Notifications = slices.DeleteFunc(m.Data, gone), slices.DeleteFunc(m.Notifications, gone)
	}
}

func (c *compiler) deviateOne(n *Node, d *statement) {
	switch d.arg {
	case "not-supported":
		n.gone = true
		n.detach()
		return
	case "add", "replace":
		if t := d.firstSub("type"); t != nil {
			if d.arg == "add" {
				c.addFault(t, "a type can be replaced, not added")
				return
			}
			n.raw.typ = t
		}
		if d.arg == "add" &&
			len(n.raw.defaults) > 0 &&
			n.Kind == Leaf &&
			d.firstSub("default") != nil {
			c.addFault(d, "%q has a default already", n.Name)
		}
		if d.arg == "add" && n.Kind == LeafList {
			kept := n.raw.defaults
			c.setProperties(n, d)
			if len(d.subsWithKeyword("default")) > 0 {
				n.raw.defaults = append(kept[:len(kept):len(kept)], d.subsWithKeyword("default")...)
			}
		} else {
			c.setProperties(n, d)
		}
		n.raw.unique = append(n.raw.unique, d.subsWithKeyword("unique")...)
	case "delete":
		c.removeProperties(n, d)
	}
}

// removeProperties takes properties away, which must be there as they are written.
func (c *compiler) removeProperties(n *Node, d *statement) {
	take := func(list []*statement, s *statement) []*statement {
		i := slices.IndexFunc(list, func(o *statement) bool { return o.arg == s.arg })
		if i < 0 {
			c.addFault(s, "%q has no %s %q", n.Name, s.keyword, s.arg)
			return list
		}
		return slices.Concat(list[:i], list[i+1:])
	}
	for _, s := range d.sub {
		switch s.keyword {
		case "must":
			n.raw.musts = take(n.raw.musts, s)
		case "unique":
			n.raw.unique = take(n.raw.unique, s)
		case "default":
			n.raw.defaults = take(n.raw.defaults, s)
		case "units":
			if n.raw.units != s.arg {
				c.addFault(s, "%q has no units %q", n.Name, s.arg)
			}
			n.raw.units = ""
		}
	}
}
