package yang

import (
	"cmp"
	"slices"

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

// Constraints checks the conditions of an instance and all below it (RFC 7950 section 8.1). root is above all top-level
// instances that the expressions may look at; nil for d's own. Defaults count as if they were set.
func (d *Data) Constraints(root *Data) fault.List {
	excluded, faults := d.CheckConditions(root, nil)
	for _, x := range excluded {
		faults = append(faults, x.Why)
	}
	return faults
}

// Excluded is an instance that is there although its when statement does not hold.
type Excluded struct {
	At  *Data
	Why *fault.Error
}

// CheckConditions is Constraints that returns what when statements exclude by itself. lists reads what is not below root
// or d; nil: all is there.
func (d *Data) CheckConditions(root *Data, lists Lists) ([]Excluded, fault.List) {
	if d.Node == nil || !d.Node.constrains {
		return nil, nil
	}
	k := constraintCheck{
		v:     validator{a: &arena{}},
		root:  root,
		lists: lists,
	}
	k.checkConstraints(d)
	_ = k.v.err()
	return k.excluded, k.v.faults
}

type constraintCheck struct {
	v        validator
	root     *Data
	lists    Lists
	excluded []Excluded
}

func (k *constraintCheck) checkConstraints(d *Data) {
	if d.Node == nil || !d.Node.constrains || k.v.more {
		return
	}
	if d.kind == jArray {
		for e := d.first; e != nil; e = e.next {
			k.checkConstraints(e)
		}
		return
	}
	for _, w := range d.Node.conditions {
		ok, err := k.holdsConstraint(w, d)
		if !ok && err == nil {
			if d.origin != Default || k.holdsEntries(d) {
				why := fault.At(fault.Unknown, d.Path(), "it may be there only when %s", w.expr)
				k.excluded = append(k.excluded, Excluded{
					At:  d,
					Why: why,
				})
			}
			return
		}
	}
	for _, m := range d.Node.musts {
		ok, err := k.holdsConstraint(m, d)
		if !ok && err == nil {
			k.v.addViolation(&Violation{"operation-failed", cmp.Or(m.tag, "must-violation")}, fault.Invalid, d.Path(), "%s",
				cmp.Or(m.message, "it must satisfy "+m.expr.String()))
		}
	}
	k.refers(d)
	k.checkRequired(d)
	for c := d.first; c != nil; c = c.next {
		if c.Node != nil && (c.Node.Config || !d.Node.Config) {
			k.checkConstraints(c)
		}
	}
}

// refers checks a reference that is a condition.
func (k *constraintCheck) refers(d *Data) {
	if !d.Node.conditionalReference() || !slices.ContainsFunc(d.References(), (*Type).Conditional) {
		return
	}
	if k.root == nil {
		return // what it looks at is not at hand
	}
	e := k.evaluation(d, d.Node.Module)
	found := e.derefNodes([]*Data{d})
	switch {
	case e.err != nil:
		k.v.addFault(
			fault.TooBig,
			d.Path(),
			"what %.60q refers to cannot be found: %v",
			d.Text(),
			e.err,
		)
	case len(found) == 0:
		k.v.addViolation(
			InstanceRequired(),
			fault.Invalid,
			d.Path(),
			"%.60q refers to nothing: there is no such instance",
			d.Text(),
		)
	}
}

func (k *constraintCheck) evaluation(current *Data, module string) *xeval {
	return &xeval{
		current: current,
		root:    k.root,
		module:  module,
		lists:   k.lists,
	}
}

// holdsEntries reports whether there are entries of lists with keys below a container which was read without them.
func (k *constraintCheck) holdsEntries(d *Data) bool {
	if k.lists == nil || d.kind != jObject || !d.outsideLists() {
		return false
	}
	for _, m := range d.Node.members {
		if m.Keyed() && k.present(d, m) {
			return true
		}
	}
	for c := d.first; c != nil; c = c.next {
		if c.Node != nil && k.holdsEntries(c) {
			return true
		}
	}
	return false
}

// present reports whether d has an instance of a member.
func (k *constraintCheck) present(d *Data, m *Node) bool {
	if k.lists == nil || !m.Keyed() || !d.outsideLists() {
		found := d.Get(m)
		return found != nil && !found.empty()
	}
	list := k.lists.Member(d, m)
	return list != nil && !list.empty()
}

// checkRequired checks that what is mandatory when a condition holds is there.
func (k *constraintCheck) checkRequired(d *Data) {
	if d.kind != jObject {
		return
	}
	for _, m := range d.Node.members {
		if len(m.conditions) == 0 ||
			d.Node.Config && !m.Config ||
			!isRequired(m) ||
			m.Parent != nil && m.Parent.Kind == Case {
			continue
		}
		if k.present(d, m) {
			continue
		}
		absent := &Data{
			Node:   m,
			kind:   jObject,
			parent: d,
			name:   m.Name,
		} // in place of what is not there
		holds := true
		for _, w := range m.conditions {
			ok, err := k.holdsConstraint(w, absent)
			holds = holds && ok && err == nil
		}
		if holds {
			k.v.addFault(
				fault.Missing,
				d.Path()+"/"+m.stepName(d.Node),
				"the member is required when %s",
				m.conditions[0].expr,
			)
		}
	}
}

// holdsConstraint evaluates a condition. One that cannot be evaluated is reported.
func (k *constraintCheck) holdsConstraint(x *constraint, d *Data) (bool, error) {
	if x.expr.absolute && k.root == nil {
		return true, nil // what it looks at is not at hand
	}
	at := d
	if x.above {
		if at = xpathParent(d); at == nil {
			at = k.root
		}
	}
	module := d.Node.Module
	if at == nil {
		at = &Data{
			Node:  &Node{Kind: Root},
			kind:  jObject,
			first: d,
			last:  d,
		}
	}
	e := k.evaluation(at, module)
	ok := e.evalNode(&x.expr.root, xcontext{at, 1, 1}).toBool()
	if e.err != nil {
		k.v.addFault(
			fault.TooBig,
			d.Path(),
			"the condition %s cannot be checked: %v",
			x.expr,
			e.err,
		)
	}
	return ok, e.err
}

// Tops returns an instance of the root with all top-level instances, nil if they cannot be read.
type Tops func() *Data

func (t Tops) loadTop(n *Node) *Data {
	if t == nil || !n.elsewhere {
		return nil
	}
	return t()
}
