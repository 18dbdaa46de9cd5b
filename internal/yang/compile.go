package yang

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/sdk/fault"
)

// compiler turns the statements of modules into Nodes: groupings are expanded where they are used, then augments and
// deviations are applied, and then every node gets its type, config and constraints.
type compiler struct {
	lib      *library
	set      *Set
	spaces   *spaces
	faults   fault.List
	types    map[*statement]*Type
	active   map[*statement]bool // typedefs, groupings and features that are being looked into
	features map[*statement]bool // supported or not
	derived  map[string][]string // identity → those derived from it

	identities map[string]*identityTable // by their bases
	refs       []*pendingRef
	augments   []*pendingAugment
	actions    []*RPC
	marked     map[string]bool // modules whose own text has annotations
}

// raw is what a node has until the compiler is done with it.
type raw struct {
	stmt      *statement
	config    *statement
	mandatory bool
	typ       *statement
	defaults  []*statement
	units     string
	key       *statement
	unique    []*statement
	musts     []*statement
	whens     []when
}

// when is a condition on a node. above says that it is about the data node that holds the node.
type when struct {
	stmt  *statement
	above bool
}

func compileLibrary(lib *library) (*Set, error) {
	c := &compiler{
		lib:        lib,
		types:      map[*statement]*Type{},
		active:     map[*statement]bool{},
		features:   map[*statement]bool{},
		derived:    map[string][]string{},
		identities: map[string]*identityTable{},
		set: &Set{
			byName: map[string]*Module{},
			rpcs:   map[string]*RPC{},
			Root:   &Node{Kind: Root, Config: true},
		},
	}
	c.spaces = &spaces{
		module: map[string]string{},
		uri:    map[string]string{},
	}
	c.spaces.derived = c.derived
	c.set.Root.spaces = c.spaces
	slices.SortFunc(lib.order, func(a, b *file) int {
		return strings.Compare(a.nameAndRevision(), b.nameAndRevision())
	})
	for _, step := range []func(){c.compileNamespaces, c.checkCycles, c.checkAnnotations, c.noteMarked, c.collectIdentities, c.buildTrees, c.applyAugments, c.applyDeviations,
		c.annotateOthers, c.resolveNodes, c.resolveLeafrefs, c.finishAll, c.markSecrets, c.releaseStatements} {
		if step(); len(c.faults) > 0 {
			return nil, c.faults.Err()
		}
	}
	return c.set, nil
}

// releaseStatements lets go of the statements, which are ten times as large as what is made of them.
func (c *compiler) releaseStatements() {
	for _, t := range c.types {
		t.path, t.dflt = nil, nil
	}
	for _, r := range c.refs {
		r.typ.path, r.typ.dflt = nil, nil
	}
	var walk func(n *Node)
	walk = func(n *Node) {
		n.defined, n.defaultsAt, n.raw = nil, nil, nil
		for _, list := range [][]*Node{n.Children, n.Notifications} {
			for _, m := range list {
				walk(m)
			}
		}
	}
	walk(c.set.Root)
	for _, m := range c.set.modules {
		for _, r := range m.RPCs {
			walk(r.Input)
			walk(r.Output)
		}
		for _, n := range m.Notifications {
			walk(n)
		}
	}
	for _, r := range c.actions {
		walk(r.Input)
		walk(r.Output)
	}
}

func (c *compiler) addFault(s *statement, format string, args ...any) {
	if len(c.faults) < maxFaults {
		c.faults = append(c.faults, faultAt(s, format, args...))
	}
}

func (c *compiler) compileNamespaces() {
	for _, f := range c.lib.order {
		space := firstArgument(f.stmt, "namespace")
		o, ok := c.spaces.module[space]
		if ok && o != f.name {
			c.addFault(f.stmt, "module %q has the namespace of module %q: %s", f.name, o, space)
		}
		c.spaces.module[space] = f.name
		c.spaces.uri[f.name] = space
	}
}

// buildTrees makes the trees of all modules; files come sorted by name and revision.
func (c *compiler) buildTrees() {
	for _, f := range c.lib.order {
		m := &Module{
			Name:        f.name,
			Revision:    f.revision,
			Namespace:   firstArgument(f.stmt, "namespace"),
			Prefix:      firstArgument(f.stmt, "prefix"),
			Description: firstArgument(f.stmt, "description"),
			Source:      f.source,
			Text:        f.text,
			Path:        f.path,
		}
		for _, p := range f.parts {
			m.Submodules = append(m.Submodules, Submodule{p.name, p.revision, p.text})
		}
		c.set.modules = append(c.set.modules, m)
		c.set.byName[m.Name] = m
		top := &Node{Kind: Root, Module: f.name}
		for _, body := range f.moduleBodies() {
			c.checkGroupings(body)
			for _, s := range body.sub {
				c.compileTop(s, top, m, f)
			}
		}
		for _, n := range top.Children {
			n.Parent = nil
		}
		m.Data = top.Children
		m.Implemented = m.Implemented || len(m.Data)+len(m.RPCs)+len(m.Notifications) > 0
	}
}

// compileTop compiles one statement at the top of a module.
func (c *compiler) compileTop(s *statement, top *Node, m *Module, f *file) {
	switch s.keyword {
	case "feature":
		if c.isFeatureSupported(s) {
			m.Features = append(m.Features, s.arg)
		}
	case "augment":
		m.Implemented = true
		c.augments = append(c.augments, &pendingAugment{
			stmt:   s,
			module: f,
		})
	case "deviation":
		m.Deviates = true
	case "rpc":
		if c.isEnabled(s) {
			r := c.compileRPC(s, f)
			m.RPCs = append(m.RPCs, r)
			c.set.rpcs[m.Name+":"+r.Name] = r
		}
	case "notification":
		if c.isEnabled(s) {
			m.Notifications = append(m.Notifications, c.newNode(s, nil, f))
		}
	case "typedef":
		c.checkTypedef(s)
	default:
		c.compileChild(s, top, f)
	}
}

// checkTypedef compiles a typedef that may not be used, for what is wrong with it.
func (c *compiler) checkTypedef(s *statement) {
	if c.active[s] {
		return
	}
	c.active[s] = true
	defer delete(c.active, s)
	t := c.compileTypedef(s)
	if d := s.firstSub("default"); d != nil && !t.local {
		v := Data{kind: jString, text: c.defaultText(d, t)}
		if t.Base == Empty {
			c.addFault(d, "the type empty has no default")
		} else if why := t.canonicalizeValue(&v, &Node{Module: s.file.module.name}, anyForm); why != "" {
			c.addFault(
				d,
				"the default %q of the typedef %q is not of its type: %s",
				d.arg,
				s.arg,
				why,
			)
		}
	}
}

// checkGroupings looks into definitions that may not be used: their types, and what they use, must be there.
func (c *compiler) checkGroupings(s *statement) {
	for _, g := range s.sub {
		if g.keyword == "grouping" {
			into := &Node{
				Kind:   Container,
				Name:   g.arg,
				Module: g.file.module.name,
			}
			kept := c.actions
			c.compileChildren(g, into, g.file.module)
			c.typesBelow(into)
			c.actions = kept // they are those of no node
		}
		if g.keyword == "typedef" && s.keyword != "module" && s.keyword != "submodule" {
			c.checkTypedef(g)
		}
		c.checkGroupings(g)
	}
}

// typesBelow compiles the types of a grouping's leaves.
func (c *compiler) typesBelow(n *Node) {
	for _, m := range n.Children {
		if m.IsLeaf() && m.raw.typ != nil {
			c.compileType(m.raw.typ)
		}
		c.typesBelow(m)
	}
}

func (c *compiler) compileRPC(s *statement, f *file) *RPC {
	r := &RPC{
		Module:      f.name,
		Name:        s.arg,
		Description: firstArgument(s, "description"),
		Annotations: *annotate(&Annotations{}, s),
	}
	part := func(k Kind) *Node {
		n := &Node{
			Kind:   k,
			Name:   k.String(),
			Module: f.name,
			spaces: c.spaces,
			raw:    &raw{stmt: s},
		}
		if p := s.firstSub(k.String()); p != nil {
			n.raw.stmt, n.raw.musts = p, p.subsWithKeyword("must")
			c.compileChildren(p, n, f)
		}
		return n
	}
	r.Input, r.Output = part(Input), part(Output)
	r.qinput = r.Input.QName()
	return r
}

// kindsOf are the kinds of nodes by keyword.
var kindsOf = map[string]Kind{
	"container":    Container,
	"list":         List,
	"leaf":         Leaf,
	"leaf-list":    LeafList,
	"anydata":      AnyData,
	"anyxml":       AnyData,
	"choice":       Choice,
	"case":         Case,
	"notification": Notification,
}

// compileChildren compiles what is below a statement into a node, in the namespace of a module.
func (c *compiler) compileChildren(s *statement, parent *Node, f *file) {
	for _, sub := range s.sub {
		c.compileChild(sub, parent, f)
	}
}

func (c *compiler) compileChild(s *statement, parent *Node, f *file) {
	kind := kindsOf[s.keyword]
	switch {
	case s.keyword == "uses":
		c.expandUses(s, parent, f)
		return
	case s.keyword == "action" && c.isEnabled(s):
		r := c.compileRPC(s, f)
		r.Input.Parent, r.Output.Parent = parent, parent
		parent.Actions = append(parent.Actions, r)
		c.actions = append(c.actions, r)
		return
	case kind == 0 || !c.isEnabled(s):
		return
	case kind == Notification:
		parent.Notifications = append(parent.Notifications, c.newNode(s, parent, f))
		return
	case parent.Kind == Choice && kind != Case: // the shorthand of a case with one node
		cs := &Node{
			Kind:   Case,
			Name:   s.arg,
			Module: f.name,
			Parent: parent,
			raw:    &raw{stmt: s},
		}
		parent.Children = append(parent.Children, cs)
		parent = cs
	}
	n := c.newNode(s, parent, f)
	parent.Children = append(parent.Children, n)
}

// newNode makes a node of its statement.
func (c *compiler) newNode(s *statement, parent *Node, f *file) *Node {
	n := &Node{
		Kind:        kindsOf[s.keyword],
		Name:        s.arg,
		Module:      f.name,
		Description: firstArgument(s, "description"),
		Parent:      parent,
		Max:         math.MaxUint64,
		Status:      firstArgument(s, "status"),
		spaces:      c.spaces,
		raw:         &raw{stmt: s},
	}
	n.opening, n.closing = "<"+n.Name+">", "</"+n.Name+">"
	n.bare, n.full = `"`+n.Name+`":`, `"`+n.Module+":"+n.Name+`":`
	n.raw.typ, n.raw.key, n.raw.unique = s.firstSub("type"), s.firstSub("key"), s.subsWithKeyword("unique")
	n.UserOrdered = firstArgument(s, "ordered-by") == "user"
	if w := s.firstSub("when"); w != nil {
		n.raw.whens = append(n.raw.whens, when{stmt: w})
	}
	n.Annotations = annotate(nil, s)
	c.setProperties(n, s)
	c.compileChildren(s, n, f)
	return n
}

// setProperties sets what a node, a refine and a deviate have alike.
func (c *compiler) setProperties(n *Node, s *statement) {
	if len(s.subsWithKeyword("default")) > 0 {
		n.raw.defaults = s.subsWithKeyword("default")
	}
	if s.firstSub("config") != nil {
		n.raw.config = s.firstSub("config")
	}
	if m := s.firstSub("mandatory"); m != nil {
		n.raw.mandatory = m.arg == "true"
	}
	if s.firstSub("presence") != nil {
		n.Presence = true
	}
	if u := s.firstSub("units"); u != nil {
		n.raw.units = u.arg
	}
	n.raw.musts = append(n.raw.musts[:len(n.raw.musts):len(n.raw.musts)], s.subsWithKeyword("must")...)
	if m := s.firstSub("min-elements"); m != nil {
		n.Min, _ = strconv.ParseUint(m.arg, 10, 64)
	}
	if m := s.firstSub("max-elements"); m != nil {
		n.Max = math.MaxUint64
		if v, err := strconv.ParseUint(m.arg, 10, 64); err == nil {
			n.Max = v
		}
	}
}

// resolveNodes gives every node its config, type, keys and constraints.
func (c *compiler) resolveNodes() {
	for _, m := range c.set.modules {
		for _, n := range m.Data {
			c.finishNode(n, true, true)
			n.raw = nil
		}
		c.set.Root.Children = append(c.set.Root.Children, m.Data...)
		for _, r := range m.RPCs {
			c.settleRPC(r)
		}
		for _, n := range m.Notifications {
			c.finishNode(n, false, false)
			n.raw = nil
		}
	}
	for _, r := range c.actions {
		c.settleRPC(r)
	}
}

func (c *compiler) settleRPC(r *RPC) {
	for _, part := range []*Node{r.Input, r.Output} {
		c.compileConstraints(part)
		for _, n := range part.Children {
			c.finishNode(n, false, false)
			n.raw = nil
		}
		part.raw = nil
	}
}

// finishNode resolves a node and what is below it; config is that of the parent, data says that config matters.
func (c *compiler) finishNode(n *Node, config, data bool) {
	r := n.raw
	n.Config = config
	if r.config != nil && data {
		if n.Config = r.config.arg == "true"; n.Config && !config {
			c.addFault(r.config, "%q is configuration inside of state", n.Name)
		}
	}
	n.Mandatory, n.Units = r.mandatory, r.units
	c.compileConstraints(n)
	switch {
	case n.IsLeaf():
		c.resolveLeaf(n)
	case n.Kind == Choice:
		for _, d := range r.defaults {
			n.Default = []string{strings.TrimPrefix(d.arg, d.file.ownPrefix()+":")}
			if cs := n.defaultCase(); cs == nil {
				c.addFault(d, "the choice %q has no case %q", n.Name, d.arg)
			} else if n.Mandatory {
				c.addFault(d, "the choice %q is mandatory, so it has no default", n.Name)
			}
		}
	}
	for _, m := range n.Children {
		c.finishNode(m, n.Config, data)
	}
	for _, m := range n.Notifications {
		c.finishNode(m, false, false)
	}
	if n.Kind == List {
		c.resolveList(n)
	}
	if n.IsList() && n.Min > n.Max {
		c.addFault(r.stmt, "%q has min-elements above max-elements", n.Name)
	}
	n.defined = r.stmt
	for _, m := range n.Children {
		m.raw = nil
	}
}

func (c *compiler) resolveLeaf(n *Node) {
	r := n.raw
	if r.typ == nil {
		c.addFault(r.stmt, "%s %q has no type", n.Kind, n.QName())
		n.Type = &Type{Base: String}
		return
	}
	n.Type = c.compileLeafType(r.typ, n)
	n.Units = cmp.Or(r.units, n.Type.units)
	defaults := r.defaults
	if len(defaults) > 0 && n.Mandatory {
		c.addFault(defaults[0], "the leaf %q is mandatory, so it has no default", n.Name)
	}
	if len(defaults) > 0 && n.Kind == LeafList && n.Min > 0 {
		c.addFault(defaults[0], "the leaf-list %q has min-elements, so it has no default", n.Name)
	}
	if len(defaults) == 0 && n.Type.dflt != nil && !n.Mandatory && n.Min == 0 {
		defaults = []*statement{n.Type.dflt}
	}
	for _, d := range defaults {
		n.Default = append(n.Default, d.arg)
		n.defaultsAt = append(n.defaultsAt, d)
	}
}

// compileConstraints compiles the must and when statements of a node.
func (c *compiler) compileConstraints(n *Node) {
	if n.raw == nil {
		return
	}
	for _, s := range n.raw.musts {
		if x := c.compileExpression(s); x != nil {
			n.musts = append(n.musts, x)
		}
	}
	for _, w := range n.raw.whens {
		if x := c.compileExpression(w.stmt); x != nil {
			x.above = w.above || n.Kind == Choice || n.Kind == Case
			n.whens = append(n.whens, x)
		}
	}
}

func (c *compiler) compileExpression(s *statement) *constraint {
	x, err := compileXPath(s.arg, func(prefix string) (string, bool) {
		if m := s.moduleOf(prefix); m != nil {
			return m.name, true
		}
		return "", false
	})
	if err != nil {
		c.addFault(s, "%s %q: %v", s.keyword, s.arg, err)
		return nil
	}
	return &constraint{
		expr:    x,
		message: firstArgument(s, "error-message"),
		tag:     firstArgument(s, "error-app-tag"),
	}
}

// byPlace sorts names by the number that stands for them.
func byPlace(m map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[a], m[b]), strings.Compare(a, b))
	})
}
