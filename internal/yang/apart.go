package yang

// Lists reads what an evaluation looks at only when it looks there. The root has no members of its own then, and no
// instance outside of lists with keys has such lists.
type Lists interface {
	// Member returns the instance of a top-level node (at is the root) without the lists with keys in it, or a list with
	// keys as an array with all that is below it; nil if there is none.
	Member(at *Data, n *Node) *Data
	// Entry returns an entry of a list with keys with all that is below it, nil if there is none.
	Entry(at *Data, n *Node, keys []string) *Data
}

// apart reports whether some members of d are read by Lists.
func (e *xeval) apart(d *Data) bool {
	return e.lists != nil &&
		d.Node != nil &&
		(d.Node.Kind == Root || d.Node.listsHere && d.outsideLists())
}

// outsideLists reports whether d is in no entry of a list with keys.
func (d *Data) outsideLists() bool {
	for ; d != nil; d = d.parent {
		if d.Node != nil && d.Node.Keyed() {
			return false
		}
	}
	return true
}

// members calls f for the instances of a member that Lists reads.
func (e *xeval) members(d *Data, m *Node, f func(*Data)) {
	if d.Node.Kind != Root && !m.Keyed() {
		return
	}
	at := e.lists.Member(d, m)
	switch {
	case at == nil || !e.countStep():
	case at.kind != jArray:
		f(at)
	default:
		for entry := at.first; entry != nil && e.countStep(); entry = entry.next {
			f(entry)
		}
	}
}

// apartChildren calls f for the instances of the members that Lists reads, which a step may lead to.
func (e *xeval) apartChildren(d *Data, s *xnode, f func(*Data)) {
	for _, m := range d.Node.members {
		if s.name != "*" && s.name != "node()" && s.name != m.Name {
			continue
		}
		keys, known := e.keysOf(m, s)
		switch {
		case !known:
			e.members(d, m, f)
		case keys != nil:
			entry := e.lists.Entry(d, m, keys)
			if entry != nil && e.countStep() {
				f(entry)
			}
		}
	}
}

// keysOf returns the values that the first predicates of a step give the keys of a list, in the order of the keys; nil if
// no entry can have them. They are known only if the predicates give each key one value.
func (e *xeval) keysOf(m *Node, s *xnode) (keys []string, known bool) {
	if !m.Keyed() || len(s.args) == 0 {
		return nil, false
	}
	values := map[*Node][]string{}
	for i := range s.args {
		if !e.keyValues(m, &s.args[i], values) {
			return nil, false
		}
		if len(values) == len(m.Keys) {
			break
		}
	}
	for _, k := range m.Keys {
		found, ok := values[k]
		switch {
		case !ok || len(found) > 1:
			return nil, false
		case len(found) == 0:
			return nil, true
		}
		keys = append(keys, found[0])
	}
	return keys, true
}

// keyValues reads a predicate that compares keys with values that are the same for all entries.
func (e *xeval) keyValues(m *Node, x *xnode, values map[*Node][]string) bool {
	switch {
	case x.kind != xOperator:
		return false
	case x.op == "and":
		return e.keyValues(m, &x.args[0], values) && e.keyValues(m, &x.args[1], values)
	case x.op != "=":
		return false
	}
	key, value := keyOf(m, &x.args[0]), &x.args[1]
	if key == nil {
		key, value = keyOf(m, &x.args[1]), &x.args[0]
	}
	if key == nil || values[key] != nil || !value.fixed() {
		return false
	}
	v := e.evalNode(value, xcontext{e.current, 1, 1})
	found := make([]string, 0, len(v.set))
	switch one := v.one.(type) {
	case string:
		found = append(found, one)
	case float64:
		base := key.Type.Final().Base
		if base > Uint64 || one != float64(int64(one)) {
			return false // not compared as text
		}
		found = append(found, formatXNumber(one))
	case nil:
		for _, d := range v.set {
			found = append(found, stringValue(d))
		}
	default:
		return false
	}
	values[key] = found
	return true
}

// keyOf returns the key that an expression is the name of.
func keyOf(m *Node, x *xnode) *Node {
	if x.kind != xPath || x.op != "" || len(x.args) != 1 {
		return nil
	}
	s := &x.args[0]
	for _, k := range m.Keys {
		if s.op == "child" &&
			len(s.args) == 0 &&
			s.name == k.Name &&
			(s.module == "" || s.module == k.Module) {
			return k
		}
	}
	return nil
}

// fixed reports whether a value does not depend on the node that a predicate is evaluated at.
func (x *xnode) fixed() bool {
	switch x.kind {
	case xLiteral, xNumber:
		return true
	case xPath:
		return x.op == "/"
	case xJoin:
		return x.args[0].fixed()
	}
	return x.kind == xFunction && x.op == "current"
}

// referred returns what a leafref leads to that refers to the only key of a list: the list is not read for it. ok is false
// if its path has another form.
func (e *xeval) referred(d *Data, t *Type) (out []*Data, ok bool) {
	x := t.expr.root
	if e.lists == nil || t.Target == nil || !t.Target.key || x.kind != xPath || len(x.args) < 2 {
		return nil, false
	}
	list := t.Target.DataParent()
	if len(list.Keys) != 1 {
		return nil, false
	}
	steps := x.args
	for _, s := range steps[len(steps)-2:] {
		if s.op != "child" || len(s.args) > 0 {
			return nil, false
		}
	}
	x.args = steps[:len(steps)-2]
	for _, holder := range e.evalNode(&x, xcontext{d, 1, 1}).set {
		if !e.apart(holder) {
			out = append(out, e.walkSteps([]*Data{holder}, steps[len(steps)-2:])...)
			continue
		}
		entry := e.lists.Entry(holder, list, []string{d.Text()})
		if entry != nil && e.countStep() {
			out = append(out, entry.Get(t.Target))
		}
	}
	return out, true
}
