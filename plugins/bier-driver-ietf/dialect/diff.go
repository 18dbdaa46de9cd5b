package dialect

import (
	"strings"

	"ctl.internal/sdk/netconf"
	"ctl.internal/sdk/netconf/xmltree"
)

// differ makes the edit that leads from one tree to another, and a line for people
// for each difference.
type differ struct{ lines []string }

// Diff returns the top-level elements of an edit-config with the default operation
// merge, and what it does. Both trees are nameless elements with top-level ones.
func (d *Dialect) Diff(have, want *xmltree.Node) ([]*xmltree.Node, []string) {
	x := &differ{}
	var out []*xmltree.Node
	for _, s := range d.top {
		out = append(out, x.kid(s, have, want, "")...)
	}
	return out, x.lines
}

func (x *differ) say(verb, path, value string) {
	line := verb + " " + strings.TrimPrefix(path, "/")
	if value != "" {
		line += " = " + value
	}
	x.lines = append(x.lines, line)
}

// kid compares the children of one name.
func (x *differ) kid(s *schema, have, want *xmltree.Node, path string) []*xmltree.Node {
	path += "/" + s.name
	h, w := have.Kid(s.space, s.name), want.Kid(s.space, s.name)
	var one *xmltree.Node
	switch {
	case s.leaf:
		one = x.leaf(s, h, w, path)
	case s.keys != nil:
		return x.list(s, have.All(s.space, s.name), want.All(s.space, s.name), path)
	case s.shared:
		one = x.inside(s, h, w, path)
	case h == nil && w != nil:
		x.say("create", path, "")
		one = w.Clone()
	case h != nil && w == nil:
		x.say("delete", path, "")
		one = remove(xmltree.New(s.space, s.name))
	case h != nil:
		one = x.inside(s, h, w, path)
	}
	if one == nil {
		return nil
	}
	return []*xmltree.Node{one}
}

func (x *differ) leaf(s *schema, h, w *xmltree.Node, path string) *xmltree.Node {
	switch old, now := s.value(h), s.value(w); {
	case old == now:
		return nil
	case now == "":
		x.say("delete", path, "")
		return remove(xmltree.New(s.space, s.name))
	}
	x.say("set", path, w.Trimmed())
	return xmltree.Leaf(s.space, s.name, w.Trimmed())
}

// list compares entries by their keys: deletions first, since a new entry may need
// what an old one has.
func (x *differ) list(s *schema, have, want []*xmltree.Node, path string) []*xmltree.Node {
	old, keep := make(map[string]*xmltree.Node, len(have)), make(map[string]bool, len(want))
	for _, h := range have {
		old[s.key(h)] = h
	}
	for _, w := range want {
		keep[s.key(w)] = true
	}
	var out []*xmltree.Node
	for _, h := range have {
		if k := s.key(h); !keep[k] {
			x.say("delete", path+k, "")
			out = append(out, remove(s.bare(h)))
		}
	}
	for _, w := range want {
		k := s.key(w)
		if h := old[k]; h == nil {
			x.say("create", path+k, "")
			out = append(out, w.Clone())
		} else if n := x.inside(s, h, w, path+k); n != nil {
			out = append(out, n)
		}
	}
	return out
}

// inside compares what two containers or entries hold; nil when that is the same.
func (x *differ) inside(s *schema, h, w *xmltree.Node, path string) *xmltree.Node {
	var out *xmltree.Node
	for _, k := range s.kids {
		if s.isKey(k.name) {
			continue
		}
		if kids := x.kid(k, h, w, path); kids != nil {
			if out == nil {
				out = s.bare(h)
			}
			out.Add(kids...)
		}
	}
	return out
}

// bare is the element with nothing but its keys, as the router writes them.
func (s *schema) bare(n *xmltree.Node) *xmltree.Node {
	out := xmltree.New(s.space, s.name)
	for _, k := range s.keys {
		out.Add(xmltree.Leaf(s.space, k, n.Value(k)))
	}
	return out
}

// remove marks an element: "delete" is what base:1.0 has too, and the router's
// configuration was read under the lock.
func remove(n *xmltree.Node) *xmltree.Node { return n.With(netconf.NS, "operation", "delete") }
