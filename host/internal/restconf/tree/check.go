package tree

import (
	"maps"
	"slices"
	"strings"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// touchList remembers that the entries of a list changed.
func (d *Draft) touchList(p Path) {
	n := p.Node()
	if !n.Keyed() {
		return
	}
	list := append(p[:len(p)-1:len(p)-1], Step{Node: n})
	d.lists[list.Key()] = list
}

// Check validates what the edits touched, as it would be after all of them, and deletes what when statements exclude then.
// The error holds every fault (fault.All).
func (d *Draft) Check() error {
	for range maxRounds {
		if err := d.checkTouched(); err != nil {
			return err
		}
		more, err := d.deleteExcluded()
		if err != nil {
			return err
		}
		if !more {
			return d.checkRefs()
		}
	}
	return fault.New(
		fault.Invalid,
		"what the conditions (when) of nodes exclude after the change goes on after %d deletions: make the change in smaller parts",
		maxRounds,
	)
}

// checkTouched checks the structure and the values of what changed.
func (d *Draft) checkTouched() error {
	var l fault.List
	for _, key := range sortedKeys(d.touched) {
		t := d.touched[key]
		l = append(l, fault.All(d.checkOne(t))...)
	}
	for _, key := range sortedKeys(d.lists) {
		l = append(l, fault.All(d.checkList(d.lists[key]))...)
	}
	return l.Err()
}

func (d *Draft) checkOne(t touch) error {
	if t.valid {
		return nil
	}
	at, err := d.editedInstance(t)
	if err != nil || at == nil {
		return err
	}
	_, err = at.Check(yang.Options{Shallow: !t.deep})
	return err
}

// editedInstance is what an edit left at a path, with what is below it when that may have changed too.
func (d *Draft) editedInstance(t touch) (*yang.Data, error) {
	switch {
	case t.value != nil:
		return t.value, nil
	case t.deep:
		return d.Load(t.path)
	}
	return d.loadInner(t.path)
}

// checkList checks the number of entries and the unique statements of a list.
func (d *Draft) checkList(p Path) error {
	n := p.Node()
	if n.Min == 0 && n.Max == ^uint64(0) && !n.HasUnique() {
		return nil
	}
	if len(p) > 1 {
		holder, err := d.Exists(p[:len(p)-1])
		if err != nil || !holder {
			return err
		}
	}
	prefix := p.Key() + "="
	rows, err := d.documentsBelow(prefix)
	if err != nil {
		return err
	}
	array := yang.NewData(n, true)
	array.Under(p.parentSkeleton())
	for _, r := range rows {
		if strings.Contains(r.key[len(prefix):], "/") {
			continue
		}
		e := yang.NewData(n, false)
		if n.HasUnique() {
			if e, err = n.Decode([]byte(r.doc.text), stored); err != nil {
				return err
			}
		}
		array.Add(e)
	}
	return array.CheckEntries()
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
