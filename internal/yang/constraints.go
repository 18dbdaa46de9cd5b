package yang

import (
	"cmp"

	"ctl.internal/sdk/fault"
)

// constraint is a must or when statement of a node.
type constraint struct {
	expr    *XPath
	message string
	tag     string
	above   bool // its context is the data node that holds the node
}

// HasConstraints reports whether the node, or something below it, has a must or when.
func (n *Node) HasConstraints() bool { return n.constrains }

// Constraints checks the must and when statements of an instance and all below it (RFC 7950 section 8.1). root is above all
// top-level instances that the expressions may look at; nil for d's own. Defaults count as if they were set.
func (d *Data) Constraints(root *Data) fault.List {
	if d.Node == nil || !d.Node.constrains {
		return nil
	}
	k := constraintCheck{v: validator{a: &arena{}}, root: root}
	k.check(d)
	_ = k.v.err()
	return k.v.faults
}

type constraintCheck struct {
	v    validator
	root *Data
}

func (k *constraintCheck) check(d *Data) {
	if d.Node == nil || !d.Node.constrains || k.v.more {
		return
	}
	if d.kind == jArray {
		for e := d.first; e != nil; e = e.next {
			k.check(e)
		}
		return
	}
	for _, w := range d.Node.conditions {
		if ok, err := k.holds(w, d); !ok && err == nil {
			if d.origin != Default {
				k.v.fault(fault.Unknown, d.Path(), "it may be there only when %s", w.expr)
			}
			return
		}
	}
	for _, m := range d.Node.musts {
		if ok, err := k.holds(m, d); !ok && err == nil {
			k.v.violates(&Violation{"operation-failed", cmp.Or(m.tag, "must-violation")}, fault.Invalid, d.Path(), "%s",
				cmp.Or(m.message, "it must satisfy "+m.expr.String()))
		}
	}
	k.required(d)
	for c := d.first; c != nil; c = c.next {
		if c.Node != nil && (c.Node.Config || !d.Node.Config) {
			k.check(c)
		}
	}
}

// required checks that what is mandatory when a condition holds is there.
func (k *constraintCheck) required(d *Data) {
	if d.kind != jObject {
		return
	}
	for _, m := range d.Node.members {
		if len(m.conditions) == 0 || d.Node.Config && !m.Config || !required(m) || d.Get(m) != nil || m.Parent != nil && m.Parent.Kind == Case {
			continue
		}
		absent := &Data{Node: m, kind: jObject, parent: d, name: m.Name} // in place of what is not there
		holds := true
		for _, w := range m.conditions {
			ok, err := k.holds(w, absent)
			holds = holds && ok && err == nil
		}
		if holds {
			k.v.fault(fault.Missing, d.Path()+"/"+m.stepName(d.Node), "the member is required when %s", m.conditions[0].expr)
		}
	}
}

// holds evaluates a condition. One that cannot be evaluated is reported.
func (k *constraintCheck) holds(x *constraint, d *Data) (bool, error) {
	if x.expr.absolute && k.root == nil {
		return true, nil // what it looks at is not at hand
	}
	at := d
	if x.above {
		if at = xparent(d); at == nil {
			at = k.root
		}
	}
	module := d.Node.Module
	if at == nil {
		at = &Data{Node: &Node{Kind: Root}, kind: jObject, first: d, last: d}
	}
	ok, err := x.expr.holds(at, k.root, module)
	if err != nil {
		k.v.fault(fault.TooBig, d.Path(), "the condition %s cannot be checked: %v", x.expr, err)
	}
	return ok, err
}

// Tops returns an instance of the root with all top-level instances, nil if they cannot be read.
type Tops func() *Data

func (t Tops) load(n *Node) *Data {
	if t == nil || !n.elsewhere {
		return nil
	}
	return t()
}
