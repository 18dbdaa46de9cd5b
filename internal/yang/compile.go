package yang

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	gy "github.com/openconfig/goyang/pkg/yang"

	"ctl.internal/sdk/fault"
)

// compiler turns goyang's entries into Nodes.
type compiler struct {
	ns     map[string]string // namespace → module name
	faults fault.List
	types  map[*gy.YangType]*Type
	refs   []*pendingRef
	set    *Set
	spaces *spaces
	byNode map[*gy.Entry]*Node
}

func compile(lib *library, ms *gy.Modules) (*Set, error) {
	c := &compiler{
		ns: map[string]string{}, types: map[*gy.YangType]*Type{}, byNode: map[*gy.Entry]*Node{},
		set: &Set{byName: map[string]*Module{}, rpcs: map[string]*RPC{}, Root: &Node{Kind: Root, Config: true}},
	}
	c.spaces = &spaces{module: c.ns, uri: map[string]string{}}
	c.set.Root.spaces = c.spaces
	for _, f := range lib.order {
		space := argument(f.stmt, "namespace")
		if o, ok := c.ns[space]; ok && o != f.name {
			c.faults = append(c.faults, at(f.stmt, "module %q has the namespace of module %q: %s", f.name, o, space))
		}
		c.ns[space] = f.name
		c.spaces.uri[f.name] = space
	}
	for _, f := range lib.order {
		c.module(f, ms.Modules[f.full()])
	}
	for _, m := range c.set.modules {
		c.set.Root.Children = append(c.set.Root.Children, m.Data...)
	}
	c.leafrefs()
	if len(c.faults) > 0 {
		return nil, c.faults.Err()
	}
	c.finishAll()
	if len(c.faults) > 0 {
		return nil, c.faults.Err()
	}
	return c.set, nil
}

// module compiles one module; files come sorted by name and revision.
func (c *compiler) module(f *file, ast *gy.Module) {
	m := &Module{
		Name: f.name, Revision: f.revision, Namespace: argument(f.stmt, "namespace"), Prefix: argument(f.stmt, "prefix"),
		Description: argument(f.stmt, "description"), Source: f.source, Text: f.text, Path: f.path,
	}
	c.set.modules = append(c.set.modules, m)
	c.set.byName[m.Name] = m
	for _, s := range f.stmt.SubStatements() {
		if s.Keyword == "feature" {
			m.Features = append(m.Features, s.Argument)
		}
		m.Implemented = m.Implemented || s.Keyword == "augment"
	}
	for _, e := range c.ordered(gy.ToEntry(ast)) {
		switch {
		case e.RPC != nil:
			m.RPCs = append(m.RPCs, c.rpc(e, m))
		case e.Kind == gy.NotificationEntry:
			m.Notifications = append(m.Notifications, c.node(e, nil, false))
		default:
			m.Data = append(m.Data, c.node(e, nil, true))
		}
	}
	m.Implemented = m.Implemented || len(m.Data)+len(m.RPCs)+len(m.Notifications) > 0
}

func (c *compiler) rpc(e *gy.Entry, m *Module) *RPC {
	c.faults = append(c.faults, unsupportedEntry(e)...)
	r := &RPC{Module: m.Name, Name: e.Name, Description: e.Description}
	part := func(e *gy.Entry, k Kind) *Node {
		n := &Node{Kind: k, Name: k.String(), Module: m.Name, spaces: c.spaces}
		if e != nil {
			c.faults = append(c.faults, unsupportedEntry(e)...)
			c.byNode[e] = n
			c.children(e, n)
		}
		return n
	}
	r.Input, r.Output = part(e.RPC.Input, Input), part(e.RPC.Output, Output)
	r.qinput = r.Input.QName()
	c.set.rpcs[m.Name+":"+r.Name] = r
	return r
}

var kinds = map[gy.EntryKind]Kind{
	gy.AnyDataEntry: AnyData, gy.ChoiceEntry: Choice, gy.CaseEntry: Case, gy.NotificationEntry: Notification,
}

func kindOf(e *gy.Entry) Kind {
	switch {
	case e.IsLeafList():
		return LeafList
	case e.Kind == gy.LeafEntry:
		return Leaf
	case e.IsList():
		return List
	}
	if k, ok := kinds[e.Kind]; ok {
		return k
	}
	return Container
}

// node compiles an entry. config is that of the parent.
func (c *compiler) node(e *gy.Entry, parent *Node, config bool) *Node {
	c.faults = append(c.faults, unsupportedEntry(e)...)
	n := &Node{
		Kind: kindOf(e), Name: e.Name, Description: e.Description, Config: config, Parent: parent,
		Mandatory: e.Mandatory == gy.TSTrue, Presence: len(e.Extra["presence"]) > 0, Max: math.MaxUint64,
		spaces: c.spaces,
	}
	c.byNode[e] = n
	n.Module = c.ns[e.Namespace().Name]
	if e.Config != gy.TSUnset {
		n.Config = config && e.Config == gy.TSTrue
	}
	n.opening, n.closing = "<"+n.Name+">", "</"+n.Name+">"
	n.bare, n.full = `"`+n.Name+`":`, `"`+n.Module+":"+n.Name+`":`
	if a := e.ListAttr; a != nil {
		n.UserOrdered, n.Min, n.Max = a.OrderedByUser, a.MinElements, a.MaxElements
	}
	if n.IsLeaf() {
		n.Type = c.typ(e, n)
		n.Default = c.defaults(e, n)
		return n
	}
	if n.Kind == Choice {
		n.Default = e.Default
	}
	c.children(e, n)
	if n.Kind == List {
		c.list(e, n)
	}
	return n
}

// children compiles the children of e below n. goyang leaves out the implicit
// cases of choices inside rpcs, so they are added here.
func (c *compiler) children(e *gy.Entry, n *Node) {
	for _, ce := range c.ordered(e) {
		if ce.Kind == gy.NotificationEntry || ce.RPC != nil {
			c.faults = append(c.faults, at(ce.Node.Statement(), "%s is not supported here", ce.Node.Kind()))
			continue
		}
		if n.Kind == Choice && ce.Kind != gy.CaseEntry {
			cs := &Node{Kind: Case, Name: ce.Name, Config: n.Config, Parent: n}
			child := c.node(ce, cs, n.Config)
			cs.Module, cs.Children = child.Module, []*Node{child}
			n.Children = append(n.Children, cs)
			continue
		}
		n.Children = append(n.Children, c.node(ce, n, n.Config))
	}
}

// ordered returns the children of an entry as the module writes them, those of
// groupings in place; goyang keeps them in a map only. What augments added comes
// last, by name.
func (c *compiler) ordered(e *gy.Entry) []*gy.Entry {
	out := make([]*gy.Entry, 0, len(e.Dir))
	left := make(map[string]bool, len(e.Dir))
	for k := range e.Dir {
		left[k] = true
	}
	take := func(name string) {
		if left[name] {
			delete(left, name)
			out = append(out, e.Dir[name])
		}
	}
	if e.Node != nil && e.Node.Statement() != nil {
		written(e.Node, e.Node.Statement(), take)
	}
	for _, k := range slices.Sorted(maps.Keys(left)) {
		take(k)
	}
	return out
}

var dataStatements = map[string]bool{
	"container": true, "list": true, "leaf": true, "leaf-list": true, "choice": true, "case": true, "anydata": true,
	"rpc": true, "notification": true,
}

// written calls take for the names below a statement, uses expanded.
func written(n gy.Node, s *gy.Statement, take func(string)) {
	for _, sub := range s.SubStatements() {
		switch {
		case dataStatements[sub.Keyword]:
			take(sub.Argument)
		case sub.Keyword == "uses":
			if g := gy.FindGrouping(n, sub.Argument, map[string]bool{}); g != nil {
				written(g, g.Statement(), take)
			}
		}
	}
}

// byPlace sorts names by the number that stands for them.
func byPlace(m map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(m[a], m[b]), strings.Compare(a, b)) })
}
