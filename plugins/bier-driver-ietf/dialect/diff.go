package dialect

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

// Change is what leads from one configuration to another.
type Change struct {
	Edits []*xmltree.Node // top-level elements of an edit-config with the default operation merge
	Lines []string        // for people, one a difference
	// Filter selects what Edits touch, for get-config, and Part is what the router
	// holds of that afterwards: nameless, with top-level elements. Filter is what
	// makes reading back cost as much as the change, not as the configuration.
	Filter []*xmltree.Node
	Part   *xmltree.Node
}

// differ collects the lines of a Change.
type differ struct{ lines []string }

// step is one difference: what to send, how to select it, and what is then there,
// which may be nothing.
type step struct{ edit, filter, part *xmltree.Node }

// Diff compares two trees: nameless elements with top-level ones.
func (d *Dialect) Diff(have, want *xmltree.Node) Change {
	x := &differ{}
	c := Change{Part: xmltree.New("", "")}
	for _, s := range d.top {
		for _, one := range x.diffChild(s, have, want, "") {
			c.Edits, c.Filter = append(c.Edits, one.edit), append(c.Filter, one.filter)
			c.Part.Add(one.part)
		}
	}
	c.Lines = x.lines
	return c
}

func (x *differ) addLine(verb, path, value string) {
	line := verb + " " + strings.TrimPrefix(path, "/")
	if value != "" {
		line += " = " + value
	}
	x.lines = append(x.lines, line)
}

// diffChild compares the children of one name.
func (x *differ) diffChild(s *schema, have, want *xmltree.Node, path string) []step {
	path += "/" + s.name
	if s.keys != nil {
		return x.diffList(s, have.All(s.space, s.name), want.All(s.space, s.name), path)
	}
	h, w := s.childOf(have), s.childOf(want)
	var one step
	switch {
	case s.leaf:
		one = x.diffLeaf(s, h, w, path)
	case s.shared:
		one = x.diffContents(s, h, w, path)
	case h == nil && w != nil:
		x.addLine("create", path, "")
		one = step{w.Clone(), xmltree.New(s.space, s.name), w}
	case h != nil && w == nil:
		x.addLine("delete", path, "")
		one = step{markDeleted(xmltree.New(s.space, s.name)), xmltree.New(s.space, s.name), nil}
	case h != nil:
		one = x.diffContents(s, h, w, path)
	}
	if one.edit == nil {
		return nil
	}
	return []step{one}
}

// childOf is the child of a name; a container without content does not count (RFC 7950 section
// 7.5.1), and routers show it or not.
func (s *schema) childOf(n *xmltree.Node) *xmltree.Node {
	k := n.Kid(s.space, s.name)
	if !s.leaf && k != nil && len(k.Kids) == 0 {
		return nil
	}
	return k
}

func (x *differ) diffLeaf(s *schema, h, w *xmltree.Node, path string) step {
	switch old, now := s.comparableValue(h), s.comparableValue(w); {
	case old == now:
		return step{}
	case now == "":
		x.addLine("delete", path, "")
		return step{markDeleted(xmltree.New(s.space, s.name)), xmltree.New(s.space, s.name), nil}
	}
	x.addLine("set", path, w.Trimmed())
	return step{xmltree.Leaf(s.space, s.name, w.Trimmed()), xmltree.New(s.space, s.name), w}
}

// diffList compares entries by their keys: deletions first, since a new entry may need
// what an old one has.
func (x *differ) diffList(s *schema, have, want []*xmltree.Node, path string) []step {
	old := make(map[string]*xmltree.Node, len(have))
	keep := make(map[string]bool, len(want))
	for _, h := range have {
		old[s.entryKey(h)] = h
	}
	for _, w := range want {
		keep[s.entryKey(w)] = true
	}
	var out []step
	for _, h := range have {
		if k := s.entryKey(h); !keep[k] {
			x.addLine("delete", path+k, "")
			out = append(out, step{markDeleted(s.keysOnly(h)), s.keysOnly(h), nil})
		}
	}
	for _, w := range want {
		k := s.entryKey(w)
		if h := old[k]; h == nil {
			x.addLine("create", path+k, "")
			out = append(out, step{w.Clone(), s.keysOnly(w), w})
		} else if one := x.diffContents(s, h, w, path+k); one.edit != nil {
			out = append(out, one)
		}
	}
	return out
}

// diffContents compares what two containers or entries hold; nothing when that is the same.
func (x *differ) diffContents(s *schema, h, w *xmltree.Node, path string) step {
	var out step
	for _, k := range s.kids {
		if slices.Contains(s.keys, k.name) {
			continue
		}
		for _, one := range x.diffChild(k, h, w, path) {
			if out.edit == nil {
				out = step{s.keysOnly(h), s.keysOnly(h), s.keysOnly(h)}
			}
			out.edit.Add(one.edit)
			out.filter.Add(one.filter)
			out.part.Add(one.part)
		}
	}
	return out
}

// keysOnly is the element with nothing but its keys, as the router writes them.
func (s *schema) keysOnly(n *xmltree.Node) *xmltree.Node {
	out := xmltree.New(s.space, s.name)
	for _, k := range s.keys {
		out.Add(xmltree.Leaf(s.space, k, n.Value(k)))
	}
	return out
}

// markDeleted marks an element: "delete" is what base:1.0 has too, and the router's
// configuration was read under the lock.
func markDeleted(n *xmltree.Node) *xmltree.Node {
	return n.With(netconf.NS, "operation", "delete")
}

// Reduce leaves out of two configurations what is the same in both, so that comparing
// them as trees costs what they differ in. Lists are in the order of the contract;
// where they are not, all is left in.
func Reduce(have, want *bierdriver.Config) (h, w *bierdriver.Config) {
	h, w = &bierdriver.Config{}, &bierdriver.Config{}
	if !proto.Equal(have.GetGlobal(), want.GetGlobal()) {
		h.Global, w.Global = have.GetGlobal(), want.GetGlobal()
	}
	a, b := have.GetChannels(), want.GetChannels()
	if !slices.IsSortedFunc(a, bierdriver.CompareChannels) ||
		!slices.IsSortedFunc(b, bierdriver.CompareChannels) {
		h.Channels, w.Channels = a, b
		return h, w
	}
	for len(a) > 0 || len(b) > 0 {
		switch order := compareFirstChannels(a, b); {
		case order < 0:
			h.Channels, a = append(h.Channels, a[0]), a[1:]
		case order > 0:
			w.Channels, b = append(w.Channels, b[0]), b[1:]
		default:
			if !sameEntry(a[0], b[0]) {
				h.Channels, w.Channels = append(h.Channels, a[0]), append(w.Channels, b[0])
			}
			a, b = a[1:], b[1:]
		}
	}
	return h, w
}

// compareFirstChannels says which of two lists has the lower first entry.
func compareFirstChannels(a, b []*bierdriver.Channel) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return bierdriver.CompareChannels(a[0], b[0])
}

// sameEntry compares what of a channel is written to routers.
func sameEntry(a, b *bierdriver.Channel) bool {
	return a == b ||
		a.SubDomain == b.SubDomain && a.IngressBfrId == b.IngressBfrId && slices.Equal(a.EgressBfrIds, b.EgressBfrIds)
}
