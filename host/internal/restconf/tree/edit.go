package tree

import (
	"slices"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// Op is what an edit does to its target (RFC 8072 section 2.2).
type Op string

// The operations. Insert creates an entry of a user-ordered list at a place, Move
// puts one that is there elsewhere; Remove is Delete that does not mind an absent
// target.
const (
	Create  Op = "create"
	Replace Op = "replace"
	Merge   Op = "merge"
	Delete  Op = "delete"
	Remove  Op = "remove"
	Insert  Op = "insert"
	Move    Op = "move"
)

// Place is where an entry of a user-ordered list goes (RFC 8040 section 4.8.5).
type Place struct {
	Where string // "", "first", "last", "before" or "after"
	Point Path   // the entry that before and after are about
}

// Edit is one change.
type Edit struct {
	Op    Op
	Path  Path
	Value *yang.Data // of Create, Replace, Merge and Insert: the instance at Path; it may be applied again
	Place Place
}

// empty reports whether the value is a list without entries.
func (e Edit) empty() bool {
	return e.Value != nil && e.Value.IsArray() && e.Value.First() == nil
}

// Apply makes an edit part of the draft. Whether the result is valid is checked
// by Check, when all edits are done. created reports whether the target is new.
//
// The error is NotFound or Exists where the operation asks for the opposite, or
// Invalid.
func (d *Draft) Apply(e Edit) (created bool, err error) {
	n := e.Path.Node()
	if n == nil {
		return false, d.applyAll(e)
	}
	if err := e.Path.checkFits(); err != nil {
		return false, err
	}
	d.applied = append(d.applied, e)
	d.forgetValues(e.Path)
	exists, err := d.Exists(e.Path)
	if err != nil {
		return false, err
	}
	switch e.Op {
	case Create, Insert:
		if exists {
			return false, fault.At(fault.Exists, e.Path.String(), "the data is there already")
		}
	case Delete, Move:
		if !exists {
			return false, fault.At(fault.NotFound, e.Path.String(), "there is no such data")
		}
	case Remove:
		if !exists {
			return false, nil
		}
	}
	if err := e.Place.checkTarget(e.Path); err != nil {
		return false, err
	}
	if err := d.unmask(&e, exists); err != nil {
		return false, err
	}
	if e.Op != Delete && e.Op != Remove && !e.empty() {
		if err := d.dropOtherCases(e.Path); err != nil {
			return false, err
		}
	}
	if e.Op != Delete && e.Op != Remove {
		if err := d.createAncestors(e.Path); err != nil {
			return false, err
		}
	}
	if e.Path.Last().isDocument() ||
		n.Keyed() && (e.Op == Delete || e.Op == Remove) ||
		len(e.Path) == 1 && !e.Path.Entry() {
		return !exists, d.applyDocument(e, exists)
	}
	return !exists, d.applyInner(e)
}

// unmask puts the stored secrets in the place of what a client was shown instead of them.
func (d *Draft) unmask(e *Edit, exists bool) error {
	if e.Value == nil || !e.Value.Masked() {
		return nil
	}
	var stored *yang.Data
	if exists {
		var err error
		if stored, err = d.Load(e.Path); err != nil {
			return err
		}
	}
	parent := e.Value.Parent()
	e.Value = e.Value.Clone() // the edit may be applied again, to other secrets
	e.Value.Under(parent)
	return e.Value.Unmask(stored)
}

// applyAll replaces or merges the whole datastore.
func (d *Draft) applyAll(e Edit) error {
	if e.Op != Replace && e.Op != Merge {
		return fault.New(
			fault.Unsupported,
			"the datastore itself can be replaced or merged, not deleted or created",
		)
	}
	for _, n := range d.set.Root.Members() {
		p := Path{{Node: n}}
		c := e.Value.Get(n)
		if !n.Config {
			continue
		}
		one := Edit{Op: e.Op, Path: p, Value: c}
		if c == nil {
			if e.Op == Merge {
				continue
			}
			one.Op = Remove
		}
		if _, err := d.Apply(one); err != nil {
			return err
		}
	}
	return nil
}

// applyDocument edits a list entry, a top-level node or a whole list.
func (d *Draft) applyDocument(e Edit, exists bool) error {
	d.touchList(e.Path)
	if e.Op == Delete || e.Op == Remove {
		d.removed = append(d.removed, e.Path)
		return d.dropAll(e.Path)
	}
	n := e.Path.Node()
	if n.Keyed() && !e.Path.Entry() {
		return d.applyTopList(e)
	}
	rank, err := d.rankFor(e, exists)
	if err != nil {
		return err
	}
	value := e.Value
	valid := e.Op != Merge // what is merged may be a part
	switch {
	case e.Op == Move:
		doc, err := d.getDocument(e.Path.Key())
		if err != nil {
			return err
		}
		return d.putDocument(e.Path.Key(), rank, doc.text)
	case e.Op == Merge && exists:
		if value, err = d.Load(e.Path); err != nil {
			return err
		}
		value.Merge(e.Value.Clone())
	case e.Op == Replace && exists:
		d.removed = append(d.removed, e.Path)
	}
	return d.saveInstance(touch{e.Path, listsBelow(n), value, valid}, rank, exists && listsBelow(n))
}

// applyTopList edits a list with keys that stands at the top of a module: its
// entries have no document around them.
func (d *Draft) applyTopList(e Edit) error {
	if e.Op == Replace {
		d.removed = append(d.removed, e.Path)
		if err := d.dropAll(e.Path); err != nil {
			return err
		}
	}
	for c := range e.Value.All() {
		one := Edit{
			Op:    e.Op,
			Path:  Path{{e.Path.Node(), c.KeyValues()}},
			Value: c,
		}
		if _, err := d.Apply(one); err != nil {
			return err
		}
	}
	return nil
}

// applyInner edits a node inside a document.
func (d *Draft) applyInner(e Edit) error {
	owner := e.Path.Owner()
	deep := holdsLists(e.Path.Node())
	at, err := d.editedInstance(touch{path: owner, deep: deep})
	if err != nil {
		return err
	}
	if at == nil {
		at = owner.skeleton()
	}
	if e.Path.Node().IsKey() && e.Op != Replace && e.Op != Merge {
		return fault.At(
			fault.Invalid,
			e.Path.String(),
			"a key cannot be deleted or created on its own",
		)
	}
	doc, err := d.getDocument(owner.Key())
	if err != nil {
		return err
	}
	rank := ""
	if doc != nil {
		rank = doc.rank
	}
	if e.Op != Merge {
		d.removed = append(d.removed, e.Path)
	}
	if err := applyBelow(at, e.Path[len(owner):], e, len(owner) == len(e.Path)); err != nil {
		return err
	}
	return d.saveInstance(touch{
		path:  owner,
		deep:  deep,
		value: at,
	}, rank, deep)
}

// applyBelow makes the change below at, the instance of the document. self says that
// the target is an entry of the document's own leaf-list.
func applyBelow(at *yang.Data, steps Path, e Edit, self bool) error {
	if self {
		return graftEntry(at, e)
	}
	for _, s := range steps[:len(steps)-1] {
		c := at.Get(s.Node)
		if c == nil {
			c = yang.NewData(s.Node, false)
			at.Put(c)
		}
		at = c
	}
	last := steps.Last()
	have := at.Get(last.Node)
	if last.Keys != nil {
		if have == nil {
			have = yang.NewData(last.Node, true)
			at.Put(have)
		}
		return graftEntry(have, e)
	}
	switch {
	case e.Op == Delete || e.Op == Remove:
		have.Remove()
	case e.Op == Merge && have != nil:
		have.Merge(e.Value.Clone())
	case last.Node.IsKey() && have != nil && have.Text() != e.Value.Text():
		return fault.At(
			fault.Invalid,
			e.Path.String(),
			"a key cannot be changed; create another entry",
		)
	default:
		at.Put(e.Value)
	}
	return nil
}

// graftEntry edits one entry of a leaf-list.
func graftEntry(array *yang.Data, e Edit) error {
	have := array.Entry(e.Path.Last().Keys)
	switch {
	case e.Op == Delete || e.Op == Remove:
		have.Remove()
		if array.First() == nil {
			array.Remove()
		}
		return nil
	case have != nil && e.Place.Where == "":
		return nil // the value is there
	case have != nil:
		have.Remove()
	}
	value := e.Value
	if e.Op == Move {
		value = have
	}
	switch e.Place.Where {
	case "first":
		array.Insert(value, array.First())
	case "before", "after":
		point := array.Entry(e.Place.Point.Last().Keys)
		if point == nil {
			return noPoint(e.Place)
		}
		if e.Place.Where == "after" {
			point = point.Next()
		}
		array.Insert(value, point)
	default:
		array.Add(value)
	}
	return nil
}

// holdsLists reports whether a node is a list with keys or has some below it, so
// that its instance is more than one document.
func holdsLists(n *yang.Node) bool {
	return n.Keyed() || listsBelow(n)
}

func listsBelow(n *yang.Node) bool {
	return slices.ContainsFunc(n.Members(), func(m *yang.Node) bool {
		return m.Keyed() || m.Kind == yang.Container && listsBelow(m)
	})
}

// createAncestors makes the list entries on the way that are not there yet, with their
// keys only, as clients of older controllers expect it.
func (d *Draft) createAncestors(p Path) error {
	for i := 1; i < len(p); i++ {
		if i > 1 && !p[i-1].isDocument() {
			continue
		}
		anc := p[:i]
		doc, err := d.getDocument(anc.Key())
		if err != nil || doc != nil {
			if err != nil {
				return err
			}
			continue
		}
		rank, err := d.rankFor(Edit{
			Op:   Create,
			Path: anc,
		}, false)
		if err != nil {
			return err
		}
		d.touchList(anc)
		if err := d.saveInstance(touch{
			path:  anc,
			value: anc.skeleton(),
		}, rank, false); err != nil {
			return err
		}
	}
	return nil
}

// TextEdit replaces the instance at a path by the JSON of another, or deletes it.
type TextEdit struct {
	Path   string
	Value  []byte
	Delete bool
}

// ApplyText makes edits of a plugin part of the draft. Deleting what is not there is no
// error. The result is not checked yet.
func (d *Draft) ApplyText(edits []TextEdit) error {
	for _, e := range edits {
		p, err := ParseText(d.set, e.Path)
		if err != nil {
			return err
		}
		if len(p) == 0 {
			return fault.New(fault.Unsupported, "a tree cannot be written as a whole")
		}
		one := Edit{Op: Remove, Path: p}
		if !e.Delete {
			one.Op = Replace
			if one.Value, err = DecodeAt(p, e.Value, yang.Options{}); err != nil {
				return err
			}
		}
		if _, err := d.Apply(one); err != nil {
			return err
		}
	}
	return nil
}
