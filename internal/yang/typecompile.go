package yang

import (
	"strings"

	gy "github.com/openconfig/goyang/pkg/yang"

	"ctl.internal/sdk/fault"
)

var bases = map[gy.TypeKind]Base{
	gy.Yint8: Int8, gy.Yint16: Int16, gy.Yint32: Int32, gy.Yint64: Int64, gy.Yuint8: Uint8, gy.Yuint16: Uint16,
	gy.Yuint32: Uint32, gy.Yuint64: Uint64, gy.Ydecimal64: Decimal64, gy.Ystring: String, gy.Ybool: Boolean,
	gy.Yenum: Enumeration, gy.Ybits: Bits, gy.Ybinary: Binary, gy.Yidentityref: Identityref,
	gy.YinstanceIdentifier: InstanceIdentifier, gy.Yleafref: Leafref, gy.Yempty: Empty, gy.Yunion: Union,
}

// pendingRef is a leafref whose path is resolved when all trees are there.
type pendingRef struct {
	typ  *Type
	node *Node
	ast  gy.Node
}

// typ compiles the type of a leaf. Types without a leafref in them are shared.
func (c *compiler) typ(e *gy.Entry, n *Node) *Type {
	if e.Type == nil {
		c.faults = append(c.faults, fault.New(fault.Invalid, "%s %q has no type", n.Kind, n.QName()))
		return &Type{Base: String}
	}
	return c.compileType(e.Type, e, n)
}

func (c *compiler) compileType(y *gy.YangType, e *gy.Entry, n *Node) *Type {
	if t := c.types[y]; t != nil {
		return t
	}
	place := e.Node.Statement()
	t := &Type{Name: y.Name, Base: bases[y.Kind], Path: y.Path, MustExist: !y.OptionalInstance, Digits: y.FractionDigits, Patterns: y.Pattern,
		span: y.Range, length: y.Length}
	shared := true
	switch t.Base {
	case Enumeration:
		t.values = numbered(y.Enum)
		t.Names = byPlace(t.values)
	case Bits:
		t.values = numbered(y.Bit)
		t.Names = byPlace(t.values)
	case Identityref:
		c.identities(t, y.IdentityBase)
	case Leafref:
		shared = false
		c.refs = append(c.refs, &pendingRef{t, n, e.Node})
	case Union:
		for _, m := range y.Type {
			mt := c.compileType(m, e, n)
			shared = shared && mt.Base != Leafref && mt.Base != Union
			t.Members = append(t.Members, mt)
		}
	}
	if b, ok := gy.BaseTypedefs[t.Base.String()]; ok && !y.Range.Equal(b.YangType.Range) && len(y.Range) > 0 {
		t.rangeText = y.Range.String()
	}
	if len(y.Length) > 0 {
		t.lengthText = y.Length.String()
	}
	for _, p := range y.Pattern {
		re, err := compilePattern(p)
		if err != nil {
			c.faults = append(c.faults, at(place, "the type of %q has a pattern that cannot be used: %v", n.Name, err))
			continue
		}
		t.res = append(t.res, re)
	}
	if shared {
		c.types[y] = t
	}
	return t
}

func numbered(e *gy.EnumType) map[string]int64 {
	if e == nil {
		return map[string]int64{}
	}
	return e.NameMap()
}

// identities fills the names that an identityref accepts: those derived from its
// base, bare where that is unambiguous, and qualified by their module.
func (c *compiler) identities(t *Type, base *gy.Identity) {
	t.identities = map[string]string{}
	if base == nil {
		return
	}
	for _, i := range base.Values {
		full := gy.RootNode(i).Name + ":" + i.Name
		t.Names = append(t.Names, full)
		t.identities[full] = full
		if o, ok := t.identities[i.Name]; ok && o != full {
			t.identities[i.Name] = ""
		} else {
			t.identities[i.Name] = full
		}
	}
}

// defaults returns the default values of a leaf; those of identityrefs are
// written with prefixes, which become module names.
func (c *compiler) defaults(e *gy.Entry, n *Node) []string {
	values := e.DefaultValues()
	for i, v := range values {
		prefix, name := prefixed(v)
		if prefix == "" || n.Type.Base != Identityref {
			continue
		}
		values[i] = name
		if m := gy.FindModuleByPrefix(e.Node, prefix); m != nil {
			values[i] = m.Name + ":" + name
		}
	}
	return values
}

// leafrefs resolves the paths of all leafrefs.
func (c *compiler) leafrefs() {
	for _, r := range c.refs {
		if why := c.leafref(r); why != "" {
			c.faults = append(c.faults, at(r.ast.Statement(), "the leafref %q of %q: %s", r.typ.Path, r.node.Name, why))
		}
	}
	for _, r := range c.refs {
		if r.typ.Target != nil && r.typ.Final().Base == Leafref {
			c.faults = append(c.faults, at(r.ast.Statement(), "the leafref %q of %q refers to itself in a circle", r.typ.Path, r.node.Name))
		}
	}
}

func (c *compiler) leafref(r *pendingRef) string {
	path := strings.ReplaceAll(strings.TrimSpace(r.typ.Path), " ", "")
	if path == "" || strings.ContainsAny(path, "[]()") {
		return "only plain paths are supported"
	}
	steps := strings.Split(path, "/")
	at := r.node
	if steps[0] == "" {
		at, r.typ.up = nil, -1
		steps = steps[1:]
	}
	for _, step := range steps {
		if step == ".." {
			if at == nil || len(r.typ.down) > 0 || r.typ.up < 0 {
				return "it goes up too far"
			}
			at = at.DataParent()
			r.typ.up++
			continue
		}
		next := c.step(r.ast, at, step)
		if next == nil {
			return "there is no node " + step
		}
		at = next
		r.typ.down = append(r.typ.down, at)
	}
	if at == nil || !at.IsLeaf() {
		return "it does not lead to a leaf"
	}
	r.typ.Target = at
	return ""
}

// step goes down one schema level; at is nil at the top of the data tree.
func (c *compiler) step(ast gy.Node, at *Node, step string) *Node {
	prefix, name := prefixed(step)
	if at != nil {
		return at.child(name)
	}
	if m := gy.FindModuleByPrefix(ast, prefix); m != nil {
		return c.set.Data(m.Name, name)
	}
	return nil
}
