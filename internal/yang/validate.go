package yang

import (
	"slices"

	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/fault"
)

// Options say how input is read.
type Options struct {
	// Lenient takes unquoted names and words, single quotes and trailing commas, and scalars of a
	// neighbouring JSON type: "5" for a number, 5 for a string, "true" for a boolean.
	Lenient bool
	// Aliases are other names and values that users may send; nil for none.
	Aliases *Aliases
	// Defaults fills in the default values of absent leaves.
	Defaults bool
	// Partial lets mandatory nodes be absent, keys excepted: the body of a patch.
	Partial bool
	// Tops loads the data that the conditions of an input may look at; nil: what they look at is not checked.
	Tops Tops
	// At is what the document stands below; it lends its path to the faults, and is what the conditions of an action's
	// input may look at.
	At *Data
	// Single lets a list be sent as one entry without brackets.
	Single bool
	// Shallow leaves out how many entries lists with keys must have: the lists are
	// kept elsewhere.
	Shallow bool
	// XML reads an XML document (RFC 7950) instead of JSON (RFC 7951). Its values have no JSON types,
	// so it is always lenient about those.
	XML bool
	// Kept reads what was valid when it was stored: what does not fit the schema any more is left out, so that
	// it cannot make the rest unreadable.
	Kept bool
	// Masks takes what is shown in place of secrets, which Data.Unmask replaces.
	Masks bool
	// Drop removes unknown members, and those whose value is null. Decode is silent
	// about them, AppendOutput reports unknown ones all the same.
	Drop bool
}

// maxFaults bounds what one document can make us report.
const maxFaults = 100

// validator checks one document against its schema in one walk.
type validator struct {
	Options
	a      *arena
	faults fault.List
	more   bool
	origin Origin           // of the defaults that are filled in
	want   func(*Node) bool // which defaults are; nil = all
}

func (v *validator) fault(k fault.Kind, path string, format string, args ...any) {
	if len(v.faults) >= maxFaults {
		v.more = true
		return
	}
	v.faults = append(v.faults, fault.At(k, path, format, args...))
}

func (v *validator) err() error {
	if v.more {
		v.faults = append(v.faults, fault.New(fault.Invalid, "there are more faults than the %d shown", maxFaults))
	}
	return v.faults.Err()
}

// result is err without the unknown members that Drop has removed in silence.
func (v *validator) result() error {
	if v.Drop {
		v.faults = slices.DeleteFunc(v.faults, func(f *fault.Error) bool { return f.Kind == fault.Unknown })
	}
	return v.err()
}

// value checks d, which stands where n is expected.
func (v *validator) value(d *Data, n *Node) {
	switch n.Kind {
	case Leaf:
		v.leaf(d, n)
	case LeafList:
		v.leafList(d, n)
	case List:
		v.list(d, n)
	case AnyData:
		if d.kind != jObject {
			v.fault(fault.Invalid, d.Path(), "want an object, got %s", jsonNames[d.kind])
			return
		}
		v.anydata(d)
	default:
		v.object(d, n)
	}
}

// instance is value, or for an entry of a list or leaf-list what is checked of that.
func (v *validator) instance(d *Data, n *Node) {
	switch {
	case n.Kind == List && d.kind == jObject:
		v.object(d, n)
	case n.Kind == LeafList && d.kind != jArray:
		v.leaf(d, n)
	default:
		v.value(d, n)
	}
}

// anydata has no schema; only duplicate names are refused.
func (v *validator) anydata(d *Data) {
	if d.kind == jObject && d.first != nil {
		seen := map[string]bool{}
		for c := d.first; c != nil; c = c.next {
			if seen[c.name] {
				v.fault(fault.Malformed, c.Path(), "the member occurs twice")
			}
			seen[c.name] = true
		}
	}
	for c := d.first; c != nil; c = c.next {
		v.anydata(c)
	}
}

// seenSet remembers which members of an object were there.
type seenSet []uint64

func (s seenSet) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }
func (s seenSet) set(i int)      { s[i>>6] |= 1 << (i & 63) }

func newSeenSet(n *Node) seenSet { return make(seenSet, len(n.members)/64+1) }

func (v *validator) object(d *Data, n *Node) {
	if d.kind != jObject {
		v.fault(fault.Invalid, d.Path(), "want an object, got %s", jsonNames[d.kind])
		return
	}
	var few [4]uint64
	named, seen := seenSet(few[:2]), seenSet(few[2:])
	if len(n.members) > 128 {
		named, seen = newSeenSet(n), newSeenSet(n)
	}
	for c := d.first; c != nil; c = c.next {
		m := n.index[c.name]
		if m == nil && v.Masks && c.name == metadata && n.HasSecrets() {
			v.metadata(c)
			continue
		}
		if m == nil {
			if m = v.unknown(c, n); m == nil {
				continue
			}
		}
		if v.Drop && c.kind == jNull && (m.Kind != Leaf || m.Type.Final().Base != Empty) {
			continue // encoders write null for what is not there
		}
		c.Node = m
		if named.has(m.slot) {
			v.fault(fault.Malformed, c.Path(), "the member occurs twice")
			continue
		}
		named.set(m.slot)
		if c.empty() && m.IsList() && m.Parent != nil && m.Parent.Kind == Case && len(m.Default) == 0 {
			continue // no instance, so it chooses no case
		}
		seen.set(m.slot)
		before := len(v.faults)
		v.value(c, m)
		if v.Kept && len(v.faults) > before {
			v.faults, c.Node = v.faults[:before], nil
		}
	}
	if v.Drop {
		d.dropUnknown()
	}
	v.complete(d, n, seen)
}

// complete looks at what is not there.
func (v *validator) complete(d *Data, n *Node, seen seenSet) {
	if len(n.choices) > 0 {
		v.choices(d, n, seen)
		return
	}
	for _, x := range n.need {
		v.absent(d, x, seen, nil)
	}
}

// unknown looks a name up among the aliases, and reports it if it is not an alias.
func (v *validator) unknown(c *Data, n *Node) *Node {
	if m := n.index[v.Aliases.member(n, c.name)]; m != nil {
		return m
	}
	if v.more = v.more || len(v.faults) >= maxFaults; !v.more { // a suggestion costs more than a fault
		v.fault(fault.Unknown, c.Path(), "there is no such member here%s", suggest(c.name, n))
	}
	return nil
}

// choices checks that each choice has one case at most, then what is absent.
func (v *validator) choices(d *Data, n *Node, seen seenSet) {
	var few [8]*Node
	active := few[:]
	if len(n.choices) > len(few) {
		active = make([]*Node, len(n.choices))
	}
	for c := d.first; c != nil && !v.Kept; c = c.next {
		if c.Node == nil || c.empty() {
			continue
		}
		for cs := c.Node.Parent; cs != nil && cs.Kind == Case; cs = cs.Parent.Parent {
			switch at := &active[cs.Parent.choice]; *at {
			case nil:
				*at = cs
			case cs:
			default:
				v.fault(fault.Invalid, c.Path(), "the choice %q has two cases: %q excludes %q", cs.Parent.Name, (*at).Name, cs.Name)
			}
		}
	}
	for _, x := range n.need {
		v.absent(d, x, seen, active)
	}
}

// absent handles a node that matters when it is not there: it is reported, or
// its default is filled in.
func (v *validator) absent(d *Data, x *Node, seen seenSet, active []*Node) {
	if len(x.whens) > 0 && !v.conditional(d, x) {
		return
	}
	if x.Kind == Choice {
		cs := active[x.choice]
		if cs == nil {
			if cs = x.defaultCase(); cs == nil {
				if x.Mandatory && !v.Partial {
					v.violates(missingChoice, fault.Missing, d.Path(), "one case of the choice %q is required", x.Name)
				}
				return
			}
		}
		for _, c := range cs.Children {
			if c.Kind == Choice || matters(c) {
				v.absent(d, c, seen, active)
			}
		}
		return
	}
	if seen.has(x.slot) {
		return
	}
	switch {
	case x.Kind == Container:
		v.absentContainer(d, x)
	case x.Kind == List && len(x.Keys) > 0 && v.Shallow:
	case x.IsList() && x.Min > 0 && !v.Partial:
		v.violates(tooFew, fault.Missing, d.Path()+"/"+x.stepName(d.Node), "at least %d entries are required", x.Min)
	case x.Mandatory && (!v.Partial || x.key):
		v.fault(fault.Missing, d.Path()+"/"+x.stepName(d.Node), "the member is required")
	case v.Defaults && len(x.defs) > 0 && (v.want == nil || v.want(x)):
		v.fill(d, x)
	}
}

// conditional reports whether the conditions of an absent node hold as far as this document shows: whether it is required
// is checked where all data is at hand (Constraints), so here it matters for defaults alone.
func (v *validator) conditional(d *Data, x *Node) bool {
	if !v.Defaults || required(x) {
		return false
	}
	dummy := &Data{Node: x, kind: jObject, parent: d, name: x.Name}
	k := constraintCheck{v: validator{a: v.a}}
	for _, w := range x.whens {
		if ok, err := k.holds(w, dummy); !ok || err != nil {
			return false
		}
	}
	return true
}

// absentContainer treats a container that is not there as an empty one, which
// says what it requires and takes its defaults (RFC 7950 section 7.5.1).
func (v *validator) absentContainer(d *Data, x *Node) {
	c := v.a.new()
	*c = Data{Node: x, kind: jObject, parent: d, name: x.Name, origin: v.origin}
	v.object(c, x)
	if c.first != nil {
		d.add(c)
	}
}

func (v *validator) fill(d *Data, x *Node) {
	at := d
	if x.Kind == LeafList {
		at = v.a.new()
		*at = Data{Node: x, kind: jArray, name: x.Name}
		d.add(at)
	}
	for _, def := range x.defs {
		c := v.a.new()
		*c = Data{Node: x, kind: def.kind, text: def.text, typ: def.typ, name: x.Name, origin: v.origin}
		at.add(c)
	}
}

// dropUnknown unlinks the members that have no schema.
func (d *Data) dropUnknown() {
	c := d.first
	d.first, d.last = nil, nil
	for c != nil {
		next := c.next
		if c.Node != nil {
			d.add(c)
		}
		c = next
	}
}

// suggest names the member that the user may have meant.
func suggest(name string, n *Node) string {
	known := make([]string, len(n.members))
	for i, m := range n.members {
		known[i] = m.Name
	}
	return nearest.Hint(name, known)
}
