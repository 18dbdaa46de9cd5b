package tree

import (
	"slices"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// maxRounds bounds how often what when statements exclude is deleted, which may exclude more.
const maxRounds = 100

// deleteExcluded deletes what when statements exclude after the changes (RFC 7950 section 8.3.2), and reports whether there
// was something. What a change asked for is not deleted but refused. The error holds every condition that does not hold.
func (d *Draft) deleteExcluded() (bool, error) {
	excluded, faults, err := d.checkConditions()
	if err != nil {
		return false, err
	}
	var paths []Path
	var refused fault.List
	var asked *wishes
	for _, x := range excluded {
		if asked == nil {
			asked = newWishes(d.applied)
		}
		p := pathOf(x.At)
		if asked.include(p) || !p.addressable() {
			refused = append(refused, x.Why)
			continue
		}
		paths = append(paths, p)
	}
	if len(refused) > 0 || len(paths) == 0 {
		return false, append(refused, faults...).Err()
	}
	for _, p := range paths {
		if _, err := d.Apply(Edit{
			Op:   Remove,
			Path: p,
		}); err != nil {
			return false, err
		}
	}
	return true, nil
}

// wishes are the instances that edits ask for.
type wishes struct {
	above map[string]bool // keys of paths at or above the targets of edits
	edits map[string][]Edit
}

func newWishes(edits []Edit) *wishes {
	w := &wishes{
		above: map[string]bool{},
		edits: map[string][]Edit{},
	}
	for _, e := range edits {
		if e.Op == Delete || e.Op == Remove {
			continue
		}
		for i := range e.Path {
			w.above[e.Path[:i+1].Key()] = true
		}
		if e.Value != nil {
			key := e.Path.Key()
			w.edits[key] = append(w.edits[key], e)
		}
	}
	return w
}

// include reports whether an edit asked for the instance at p, for one below it, or for one above it with this one.
func (w *wishes) include(p Path) bool {
	if w.above[p.Key()] {
		return true
	}
	for i := len(p); i > 0; i-- {
		to := slices.Clone(p[:i])
		if i < len(p) && w.brings(to, p[i:], to.Last().Keys) {
			return true
		}
		keys := to.Last().Keys
		if keys == nil {
			continue
		}
		to[i-1].Keys = nil // an edit of the list as a whole
		if w.brings(to, p[i:], keys) {
			return true
		}
	}
	return false
}

// brings reports whether the value of an edit has an instance at some steps below its target, of a list those below the
// entry with some keys.
func (w *wishes) brings(target, below Path, keys []string) bool {
	return slices.ContainsFunc(w.edits[target.Key()], func(e Edit) bool {
		at := e.Value
		if at.IsArray() && keys != nil {
			at = at.Entry(keys)
		}
		return Descend(at, below) != nil
	})
}

// addressable reports whether the path has no entry of a list without keys.
func (p Path) addressable() bool {
	return !slices.ContainsFunc(p, func(s Step) bool {
		return s.Node.Kind == yang.List && !s.Node.Keyed()
	})
}

// checkConditions checks the conditions that the changes can matter to: outside of lists with keys all of a tree that
// changed, in lists the entries that changed, and what reads something that changed elsewhere.
func (d *Draft) checkConditions() (excluded []yang.Excluded, faults fault.List, err error) {
	if d.ns == OperationalNamespace { // state may violate conditions (RFC 8342 section 5.3)
		return nil, nil, nil
	}
	nodes, changed := d.changedNodes()
	l := newLists(d)
	check := func(at *yang.Data) {
		if at == nil || l.err != nil {
			return
		}
		more, wrong := at.CheckConditions(l.root, l)
		excluded, faults = append(excluded, more...), append(faults, wrong...)
	}
	for _, top := range d.set.Root.Members() {
		if !top.HasConstraints() || !top.Config {
			continue
		}
		outside, whole := top.Affected(nodes)
		paths := changed[top]
		if !top.Keyed() && (outside || len(paths) > 0) {
			check(l.Member(l.root, top))
		}
		entries, replaced := unitsOf(top, paths)
		for _, n := range replaced {
			if !slices.Contains(whole, n) {
				whole = append(whole, n)
			}
		}
		for _, n := range whole {
			check(l.array(n))
		}
		for _, p := range entries {
			if !slices.Contains(whole, p.Node()) {
				check(l.entry(p))
			}
		}
	}
	return excluded, faults, l.err
}

// changedNodes returns the schema nodes whose instances changed, and the changes by their top-level nodes.
func (d *Draft) changedNodes() (nodes []*yang.Node, changed map[*yang.Node][]Edit) {
	changed = map[*yang.Node][]Edit{}
	seen := map[*yang.Node]bool{}
	note := func(n *yang.Node) {
		if !seen[n] {
			seen[n] = true
			nodes = append(nodes, n)
		}
	}
	for _, e := range d.applied {
		top := e.Path[0].Node
		changed[top] = append(changed[top], e)
		if e.Op != Merge {
			note(e.Path.Node())
			continue
		}
		eachLeaf(e.Value, note)
	}
	return nodes, changed
}

// eachLeaf calls f for the nodes of an instance that have none below them.
func eachLeaf(at *yang.Data, f func(*yang.Node)) {
	if at.Node == nil {
		return
	}
	if at.First() == nil || at.Node.IsLeaf() || at.Node.Kind == yang.AnyData {
		f(at.Node)
		return
	}
	for c := range at.All() {
		if c.Node != nil {
			eachLeaf(c, f)
		}
	}
}

// unitsOf returns the entries of lists that changes are about, and the lists that changed as a whole. Of lists in lists
// the outer one counts.
func unitsOf(top *yang.Node, edits []Edit) (entries []Path, lists []*yang.Node) {
	seen := map[string]bool{}
	add := func(p Path) {
		if key := p.Key(); !seen[key] {
			seen[key] = true
			entries = append(entries, p)
		}
	}
	for _, e := range edits {
		i := slices.IndexFunc(e.Path, Step.isKeyed)
		switch {
		case i >= 0 && e.Path[i].isDocument():
			add(e.Path[:i+1])
		case i >= 0 && e.Op == Merge:
			for c := range e.Value.All() {
				add(append(e.Path[:i:i], Step{
					Node: c.Node,
					Keys: c.KeyValues(),
				}))
			}
		case i >= 0:
			lists = append(lists, e.Path[i].Node)
		case e.Op == Merge:
			entriesBelow(e.Path, e.Value, add)
		default:
			lists = append(lists, unitLists(e.Path.Node())...)
		}
	}
	return entries, lists
}

// entriesBelow calls f for the paths of the entries of lists with keys below an instance at p.
func entriesBelow(p Path, at *yang.Data, f func(Path)) {
	for c := range at.All() {
		if c.Node == nil || c.Node.IsLeaf() || c.Node.Kind == yang.AnyData {
			continue
		}
		below := append(p[:len(p):len(p)], Step{Node: c.Node})
		if !c.Node.Keyed() {
			entriesBelow(below, c, f)
			continue
		}
		for e := range c.All() {
			f(append(below[:len(p):len(p)], Step{
				Node: c.Node,
				Keys: e.KeyValues(),
			}))
		}
	}
}

// unitLists returns the lists with keys below a node that are in no other such list.
func unitLists(n *yang.Node) (out []*yang.Node) {
	for _, m := range n.Members() {
		switch {
		case m.Keyed():
			out = append(out, m)
		case m.Kind == yang.Container:
			out = append(out, unitLists(m)...)
		}
	}
	return out
}

// isKeyed reports whether the step is to a list with keys.
func (s Step) isKeyed() bool { return s.Node.Keyed() }
