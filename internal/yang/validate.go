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
	// Exact takes int64, uint64 and decimal64 as strings alone, as RFC 7951 section 6.1 writes them.
	Exact bool
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

func (v *validator) addFault(k fault.Kind, path string, format string, args ...any) {
	if len(v.faults) >= maxFaults {
		v.more = true
		return
	}
	v.faults = append(v.faults, fault.At(k, path, format, args...))
}

func (v *validator) err() error {
	if v.more {
		v.faults = append(
			v.faults,
			fault.New(fault.Invalid, "there are more faults than the %d shown", maxFaults),
		)
	}
	return v.faults.Err()
}

// result is err without the unknown members that Drop has removed in silence.
func (v *validator) result() error {
	if v.Drop {
		v.faults = slices.DeleteFunc(v.faults, func(f *fault.Error) bool {
			return f.Kind == fault.Unknown
		})
	}
	return v.err()
}

// checkValue checks d, which stands where n is expected.
func (v *validator) checkValue(d *Data, n *Node) {
	switch n.Kind {
	case Leaf:
		v.checkLeaf(d, n)
	case LeafList:
		v.leafList(d, n)
	case List:
		v.checkList(d, n)
	case AnyData:
		if d.kind != jObject {
			v.addFault(fault.Invalid, d.Path(), "want an object, got %s", jsonNames[d.kind])
			return
		}
		v.checkAnydata(d)
	default:
		v.checkObject(d, n)
	}
}

// checkInstance is value, or for an entry of a list or leaf-list what is checked of that.
func (v *validator) checkInstance(d *Data, n *Node) {
	switch {
	case n.Kind == List && d.kind == jObject:
		v.checkObject(d, n)
	case n.Kind == LeafList && d.kind != jArray:
		v.checkLeaf(d, n)
	default:
		v.checkValue(d, n)
	}
}

// checkAnydata has no schema; only duplicate names are refused.
func (v *validator) checkAnydata(d *Data) {
	if d.kind == jObject && d.first != nil {
		seen := map[string]bool{}
		for c := d.first; c != nil; c = c.next {
			if seen[c.name] {
				v.addFault(fault.Malformed, c.Path(), "the member occurs twice")
			}
			seen[c.name] = true
		}
	}
	for c := d.first; c != nil; c = c.next {
		v.checkAnydata(c)
	}
}

// seenSet remembers which members of an object were there.
type seenSet []uint64

func (s seenSet) hasIndex(i int) bool {
	return s[i>>6]&(1<<(i&63)) != 0
}
func (s seenSet) setIndex(i int) {
	s[i>>6] |= 1 << (i & 63)
}

func newSeenSet(n *Node) seenSet {
	return make(seenSet, len(n.members)/64+1)
}

func (v *validator) checkObject(d *Data, n *Node) {
	if d.kind != jObject {
		v.addFault(fault.Invalid, d.Path(), "want an object, got %s", jsonNames[d.kind])
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
			if m = v.resolveUnknown(c, n); m == nil {
				continue
			}
		}
		if v.Drop && c.kind == jNull && (m.Kind != Leaf || m.Type.Final().Base != Empty) {
			continue // encoders write null for what is not there
		}
		c.Node = m
		if named.hasIndex(m.slot) {
			v.addFault(fault.Malformed, c.Path(), "the member occurs twice")
			continue
		}
		named.setIndex(m.slot)
		if c.empty() &&
			m.IsList() &&
			m.Parent != nil &&
			m.Parent.Kind == Case &&
			len(m.Default) == 0 {
			continue // no instance, so it chooses no case
		}
		seen.setIndex(m.slot)
		before := len(v.faults)
		v.checkValue(c, m)
		if v.Kept && len(v.faults) > before {
			v.faults, c.Node = v.faults[:before], nil
		}
	}
	if v.Drop {
		d.dropUnknown()
	}
	v.checkComplete(d, n, seen)
}

// checkComplete looks at what is not there.
func (v *validator) checkComplete(d *Data, n *Node, seen seenSet) {
	if len(n.choices) > 0 {
		v.checkChoices(d, n, seen)
		return
	}
	for _, x := range n.need {
		v.handleAbsent(d, x, seen, nil)
	}
}

// resolveUnknown looks a name up among the aliases, and reports it if it is not an alias.
func (v *validator) resolveUnknown(c *Data, n *Node) *Node {
	if m := n.index[v.Aliases.memberAlias(n, c.name)]; m != nil {
		return m
	}
	if v.more = v.more || len(v.faults) >= maxFaults; !v.more { // a suggestion costs more than a fault
		v.addFault(
			fault.Unknown,
			c.Path(),
			"there is no such member here%s",
			suggestMember(c.name, n),
		)
	}
	return nil
}

// checkChoices checks that each choice has one case at most, then what is absent.
func (v *validator) checkChoices(d *Data, n *Node, seen seenSet) {
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
				v.addFault(
					fault.Invalid,
					c.Path(),
					"the choice %q has two cases: %q excludes %q",
					cs.Parent.Name,
					(*at).Name,
					cs.Name,
				)
			}
		}
	}
	for _, x := range n.need {
		v.handleAbsent(d, x, seen, active)
	}
}

// handleAbsent handles a node that matters when it is not there: it is reported, or
// its default is filled in.
func (v *validator) handleAbsent(d *Data, x *Node, seen seenSet, active []*Node) {
	if len(x.whens) > 0 && !v.holdConditions(d, x) {
		return
	}
	if x.Kind == Choice {
		cs := active[x.choice]
		if cs == nil {
			if cs = x.defaultCase(); cs == nil {
				if x.Mandatory && !v.Partial {
					v.addViolation(
						missingChoice,
						fault.Missing,
						d.Path(),
						"one case of the choice %q is required",
						x.Name,
					)
				}
				return
			}
		}
		for _, c := range cs.Children {
			if c.Kind == Choice || mattersWhenAbsent(c) {
				v.handleAbsent(d, c, seen, active)
			}
		}
		return
	}
	if seen.hasIndex(x.slot) {
		return
	}
	switch {
	case x.Kind == Container:
		v.absentContainer(d, x)
	case x.Kind == List && len(x.Keys) > 0 && v.Shallow:
	case x.IsList() && x.Min > 0 && !v.Partial:
		v.addViolation(
			tooFew,
			fault.Missing,
			d.Path()+"/"+x.stepName(d.Node),
			"at least %d entries are required",
			x.Min,
		)
	case x.Mandatory && (!v.Partial || x.key):
		v.addFault(fault.Missing, d.Path()+"/"+x.stepName(d.Node), "the member is required")
	case v.Defaults && len(x.defs) > 0 && (v.want == nil || v.want(x)):
		v.fillDefault(d, x)
	}
}

// holdConditions reports whether the conditions of an absent node hold as far as this document shows: whether it is required
// is checked where all data is at hand (Constraints), so here it matters for defaults alone.
func (v *validator) holdConditions(d *Data, x *Node) bool {
	if !v.Defaults || isRequired(x) {
		return false
	}
	dummy := &Data{
		Node:   x,
		kind:   jObject,
		parent: d,
		name:   x.Name,
	}
	k := constraintCheck{v: validator{a: v.a}}
	for _, w := range x.whens {
		ok, err := k.holdsConstraint(w, dummy)
		if !ok || err != nil {
			return false
		}
	}
	return true
}

// absentContainer treats a container that is not there as an empty one, which
// says what it requires and takes its defaults (RFC 7950 section 7.5.1).
func (v *validator) absentContainer(d *Data, x *Node) {
	c := v.a.newData()
	*c = Data{
		Node:   x,
		kind:   jObject,
		parent: d,
		name:   x.Name,
		origin: v.origin,
	}
	v.checkObject(c, x)
	if c.first != nil {
		d.addChild(c)
	}
}

func (v *validator) fillDefault(d *Data, x *Node) {
	at := d
	if x.Kind == LeafList {
		at = v.a.newData()
		*at = Data{Node: x, kind: jArray, name: x.Name}
		d.addChild(at)
	}
	for _, def := range x.defs {
		c := v.a.newData()
		*c = Data{
			Node:   x,
			kind:   def.kind,
			text:   def.text,
			typ:    def.typ,
			name:   x.Name,
			origin: v.origin,
		}
		at.addChild(c)
	}
}

// dropUnknown unlinks the members that have no schema.
func (d *Data) dropUnknown() {
	c := d.first
	d.first, d.last = nil, nil
	for c != nil {
		next := c.next
		if c.Node != nil {
			d.addChild(c)
		}
		c = next
	}
}

// suggestMember names the member that the user may have meant.
func suggestMember(name string, n *Node) string {
	known := make([]string, len(n.members))
	for i, m := range n.members {
		known[i] = m.Name
	}
	return nearest.Hint(name, known)
}
