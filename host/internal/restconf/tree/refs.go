package tree

import (
	"slices"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// checkRefs checks that leafrefs lead to something: those in the documents that
// changed, and where data went away, all that could have pointed there.
func (d *Draft) checkRefs() error {
	var l fault.List
	for _, key := range sortedKeys(d.touched) {
		t := d.touched[key]
		if !t.path.Node().HasReferences() {
			continue
		}
		at, err := d.editedInstance(t)
		if err != nil {
			return err
		}
		l = append(l, d.refsBelow(at)...)
	}
	if len(d.removed) > 0 && len(l) == 0 {
		more, err := d.refsTo()
		if err != nil {
			return err
		}
		l = more
	}
	return l.Err()
}

// refsTo checks the leafrefs of the whole schema whose targets may have gone.
func (d *Draft) refsTo() (fault.List, error) {
	var l fault.List
	for _, top := range d.set.Root.Members() {
		if !top.HasReferences() || !refersTo(top, d.removed) {
			continue
		}
		at, err := d.Load(Path{{Node: top}})
		if err != nil {
			return nil, err
		}
		l = append(l, d.refsBelow(at)...)
	}
	return l, nil
}

// refersTo reports whether a leafref below n has its target below or at one of
// the removed nodes.
func refersTo(n *yang.Node, removed []Path) bool {
	if n.IsLeaf() {
		return slices.ContainsFunc(n.Type.References(), func(t *yang.Type) bool {
			if t.Base == yang.InstanceIdentifier { // it may lead anywhere
				return true
			}
			for at := t.Target; at != nil; at = at.DataParent() {
				if slices.ContainsFunc(removed, func(p Path) bool {
					return p.Node() == at
				}) {
					return true
				}
			}
			return false
		})
	}
	return slices.ContainsFunc(n.Members(), func(m *yang.Node) bool {
		return m.Config && refersTo(m, removed)
	})
}

// refsBelow checks every leafref in an instance.
func (d *Draft) refsBelow(at *yang.Data) fault.List {
	if at == nil || at.Node == nil || !at.Node.HasReferences() {
		return nil
	}
	if at.Node.IsLeaf() && !at.IsArray() {
		if !at.Node.Config {
			return nil
		}
		return d.checkReference(at)
	}
	var l fault.List
	for c := range at.All() {
		l = append(l, d.refsBelow(c)...)
	}
	return l
}

// checkReference checks one value. That of a union is good if it is one of a member that needs no instance, or leads to one by
// any member.
func (d *Draft) checkReference(at *yang.Data) fault.List {
	refs := at.References()
	if slices.ContainsFunc(refs, (*yang.Type).Conditional) {
		return nil // one of the conditions
	}
	var why string
	for _, t := range refs {
		ok, err := d.refersToSomething(at, t)
		if err != nil {
			return fault.All(err)
		}
		if ok {
			return nil
		}
		why = "refers to nothing: there is no such instance"
		if t.Target != nil {
			why = "refers to nothing: there is no such " + t.Target.Name
		}
	}
	if why == "" {
		return nil
	}
	text := at.Text()
	if at.Node.Secret() {
		text = yang.Mask
	}
	f := fault.At(fault.Invalid, at.Path(), "%.60q %s", text, why)
	f.Cause = yang.InstanceRequired()
	return fault.List{f}
}

func (d *Draft) refersToSomething(at *yang.Data, t *yang.Type) (bool, error) {
	if t.Base == yang.InstanceIdentifier {
		p, err := ParseInstance(d.set, at.Text())
		if err != nil {
			return false, nil //nolint:nilerr // what has no schema node has no instance either
		}
		return d.Exists(p)
	}
	up, down := t.Reference()
	var base Path
	if up >= 0 {
		full := pathOf(at)
		base = full[:len(full)-up]
	}
	return d.canReachLeaf(base, down, at.Text())
}

// canReachLeaf reports whether a leaf with a text can be reached from base.
func (d *Draft) canReachLeaf(base Path, down []*yang.Node, text string) (bool, error) {
	path := append(Path(nil), base...)
	for i, n := range down {
		path = append(path, Step{Node: n})
		if n.Kind != yang.List {
			continue
		}
		if i == len(down)-2 && len(n.Keys) == 1 && n.Keys[0] == down[i+1] {
			path[len(path)-1].Keys = []string{text}
			return d.Exists(path) // the target is the key: no need to look at all entries
		}
		list, err := d.Load(path)
		return list != nil && hasLeaf(list, down[i+1:], text), err
	}
	leaf, err := d.Load(path)
	return leaf != nil && hasLeaf(leaf, nil, text), err
}

// hasLeaf looks for a leaf with a text below an instance.
func hasLeaf(at *yang.Data, down []*yang.Node, text string) bool {
	if at.IsArray() {
		for e := range at.All() {
			if hasLeaf(e, down, text) {
				return true
			}
		}
		return false
	}
	if len(down) == 0 {
		return at.Text() == text
	}
	c := at.Get(down[0])
	return c != nil && hasLeaf(c, down[1:], text)
}

// pathOf returns the path of an instance; entries of lists without keys count as
// one step without keys.
func pathOf(at *yang.Data) Path {
	var p Path
	for ; at != nil && at.Node.Kind != yang.Root; at = at.Parent() {
		s := Step{Node: at.Node}
		if up := at.Parent(); up != nil && up.IsArray() {
			if at.Node.Keyed() || at.Node.Kind == yang.LeafList {
				s.Keys = at.KeyValues()
			}
			at = up
		}
		p = append(p, s)
	}
	slices.Reverse(p)
	return p
}

// changedTops are the top-level nodes that the draft changed.
func (d *Draft) changedTops() map[*yang.Node]bool {
	out := map[*yang.Node]bool{}
	for key := range d.changed {
		if n := d.set.Root.Member(topName(key)); n != nil {
			out[n] = true
		}
	}
	return out
}
