package yang

import "slices"

// Base is a built-in type of YANG (RFC 7950 section 4.2.4).
type Base uint8

// The built-in types.
const (
	Int8 Base = iota + 1
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Decimal64
	String
	Boolean
	Enumeration
	Bits
	Binary
	Identityref
	InstanceIdentifier
	Leafref
	Empty
	Union
)

var baseNames = [...]string{
	Int8:               "int8",
	Int16:              "int16",
	Int32:              "int32",
	Int64:              "int64",
	Uint8:              "uint8",
	Uint16:             "uint16",
	Uint32:             "uint32",
	Uint64:             "uint64",
	Decimal64:          "decimal64",
	String:             "string",
	Boolean:            "boolean",
	Enumeration:        "enumeration",
	Bits:               "bits",
	Binary:             "binary",
	Identityref:        "identityref",
	InstanceIdentifier: "instance-identifier",
	Leafref:            "leafref",
	Empty:              "empty",
	Union:              "union",
}

// String returns the YANG name of the type.
func (b Base) String() string { return baseNames[b] }

// Type is a resolved type with the restrictions of all its typedefs.
type Type struct {
	Name       string // as the module writes it: a typedef's name, or the built-in's
	Base       Base
	Names      []string // of an enumeration, bits or identityref: the values, in order
	Members    []*Type  // of a union
	Target     *Node    // of a leafref: the leaf it refers to
	Path       string   // of a leafref, as the module writes it
	MustExist  bool     // of a leafref or instance-identifier: require-instance
	Digits     int      // of a decimal64: fraction digits, 1 to 18
	Patterns   []string // XSD expressions as written; all must match
	up         int      // of a relative leafref: data levels to go up; -1 = absolute
	down       []*Node  // of a leafref: the data nodes to go down
	span       spans    // of numbers, all that is allowed
	length     spans    // of strings in characters, of binary in octets
	patterns   []pattern
	says       map[string]saying // what the module says of a broken "range" or "length"
	path       *statement        // of a leafref
	expr       *XPath            // the same, for deref()
	dflt       *statement        // of a typedef
	units      string
	deref      bool              // the path goes by deref(), so it has no steps of its own
	predicates bool              // the path has predicates
	local      bool              // holds a leafref, whose target depends on where the type is used
	values     map[string]int64  // of enumerations and bits
	identities map[string]string // bare and module-qualified name → canonical; "" = ambiguous
	rangeText  string
	lengthText string
}

// Range returns the allowed range as YANG writes it, empty when it is the
// built-in type's own.
func (t *Type) Range() string { return t.rangeText }

// Length returns the allowed lengths as YANG writes them, empty for any.
func (t *Type) Length() string { return t.lengthText }

// Bounds returns the smallest and the largest number that the type allows, as
// decimal text; empty for types that are not numbers. Decimals are not scaled.
func (t *Type) Bounds() (low, high string) {
	if len(t.span) == 0 || t.Base == Decimal64 {
		return "", ""
	}
	return t.span[0].min.String(), t.span[len(t.span)-1].max.String()
}

// LengthBounds returns the smallest and the largest length that the type allows,
// in characters or, for binary, octets; false when any length is allowed.
func (t *Type) LengthBounds() (low, high uint64, ok bool) {
	if len(t.length) == 0 {
		return 0, 0, false
	}
	return t.length[0].min.Value, t.length[len(t.length)-1].max.Value, true
}

// Reference returns the path of a leafref: how many data nodes to go up, -1 for
// the top of the tree, and then the data nodes to go down.
func (t *Type) Reference() (up int, down []*Node) {
	return t.up, t.down
}

// References returns the types among t and the members of a union whose values must lead to an instance.
func (t *Type) References() []*Type {
	switch {
	case t.Base == Union:
		var out []*Type
		for _, m := range t.Members {
			out = append(out, m.References()...)
		}
		return out
	case t.MustExist && (t.Base == Leafref || t.Base == InstanceIdentifier):
		return []*Type{t}
	}
	return nil
}

// Conditional reports whether what a leafref refers to depends on more than its value: its path has predicates or goes by
// deref(). Such references are conditions.
func (t *Type) Conditional() bool {
	return t.deref || t.predicates
}

// conditionalReference reports whether values of a configured leaf refer to something that must exist and depends on more
// than the value.
func (n *Node) conditionalReference() bool {
	return n.IsLeaf() && n.Config && slices.ContainsFunc(n.Type.References(), (*Type).Conditional)
}

// References returns the types by which a value must lead to an instance, one of them; none if it need not.
func (d *Data) References() []*Type {
	if d.Node.Type.Base != Union {
		return d.Node.Type.References()
	}
	var out []*Type
	for _, m := range d.Node.Type.unionMembers() {
		try := *d
		try.kind, try.text = d.kind, d.text
		if m.canonicalizeValue(&try, d.Node, anyForm) != "" {
			continue
		}
		refs := m.References()
		if len(refs) == 0 {
			return nil
		}
		out = append(out, refs...)
	}
	return out
}

// unionMembers lists the types that a union consists of.
func (t *Type) unionMembers() []*Type {
	if t.Base != Union {
		return []*Type{t}
	}
	var out []*Type
	for _, m := range t.Members {
		out = append(out, m.unionMembers()...)
	}
	return out
}

// Final returns the type of the target of a leafref, and t itself otherwise.
func (t *Type) Final() *Type {
	for range 32 {
		if t.Base != Leafref || t.Target == nil {
			break
		}
		t = t.Target.Type
	}
	return t
}

// Quoted reports whether RFC 7951 section 6.1 writes numbers of the type as
// JSON strings.
func (b Base) Quoted() bool {
	return b == Int64 || b == Uint64 || b == Decimal64
}
