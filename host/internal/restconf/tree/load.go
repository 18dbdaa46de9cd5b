package tree

import (
	"slices"
	"strings"

	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// stored is how documents are read back: they were valid when they were written,
// but a module may have lost a member since.
var stored = yang.Options{Partial: true, Shallow: true, Drop: true}

// Load returns the instance that a path leads to with everything below it, nil
// if there is none. A list without keys in the path is its array; the empty path
// is the whole datastore.
func (d *Draft) Load(p Path) (*yang.Data, error) {
	if len(p) == 0 {
		return d.loadAll()
	}
	if n := p.Node(); n.Kind == yang.List && len(n.Keys) > 0 && p.Last().Keys == nil {
		return d.loadList(p)
	}
	at, err := d.inner(p)
	if err != nil || !listsBelow(p.Node()) {
		return at, err
	}
	rows, err := d.below(p.Key() + "/")
	if err != nil || len(rows) == 0 {
		return at, err
	}
	if at == nil {
		at = p.skeleton()
	}
	return at, d.attach(p, at, rows)
}

// inner returns an instance without the documents below it.
func (d *Draft) inner(p Path) (*yang.Data, error) {
	owner := p.owner()
	doc, err := d.get(owner.Key())
	if err != nil || doc == nil {
		return nil, err
	}
	at, err := d.read1(owner, doc)
	if err != nil {
		return nil, err
	}
	if s := p[0]; len(p) == 1 && s.Node.Kind == yang.LeafList && s.Keys != nil {
		return at.Entry(s.Keys), nil
	}
	return descend(at, p[len(owner):]), nil
}

// descend follows steps down from at.
func descend(at *yang.Data, steps Path) *yang.Data {
	for _, s := range steps {
		if at = at.Get(s.Node); at == nil {
			return nil
		}
		if s.Keys != nil {
			if at = at.Entry(s.Keys); at == nil {
				return nil
			}
		}
	}
	return at
}

// read1 reads the document of a path.
func (d *Draft) read1(p Path, doc *document) (*yang.Data, error) {
	n, o := p.Node(), stored
	if len(p) > 0 {
		o.At = Path(p[:len(p)-1]).skeleton()
		if p.Last().Keys != nil {
			o.At = p.parent()
		}
	}
	var at *yang.Data
	var err error
	if n.Kind == yang.List {
		at, err = n.Decode([]byte(doc.text), o)
	} else {
		at, err = n.DecodeValue([]byte(doc.text), o)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "what is stored at %s does not fit the schema: %v", p, err)
	}
	return at, nil
}

// loadAll returns the datastore under the schema's root.
func (d *Draft) loadAll() (*yang.Data, error) {
	root := yang.NewData(d.set.Root, false)
	for _, n := range d.set.Root.Members() {
		c, err := d.Load(Path{{Node: n}})
		if err != nil {
			return nil, err
		}
		if c != nil && (c.First() != nil || !c.IsArray()) {
			root.Add(c)
		}
	}
	if root.First() == nil {
		return nil, nil
	}
	return root, nil
}

// loadList returns the array of a list with keys, nil when it has no entry.
func (d *Draft) loadList(p Path) (*yang.Data, error) {
	rows, err := d.below(p.Key() + "=")
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	holder := p[:len(p)-1].skeleton()
	if len(p) == 1 {
		holder = yang.NewData(d.set.Root, false)
	}
	if err := d.attach(p[:len(p)-1], holder, rows); err != nil {
		return nil, err
	}
	return holder.Get(p.Node()), nil
}

// attach hangs the documents of rows, which come in the order of keys, below at,
// the instance of p.
func (d *Draft) attach(p Path, at *yang.Data, rows []row) error {
	entries := map[string]*yang.Data{}
	ranks := map[*yang.Data]string{}
	var ordered []*yang.Data
	base := len(p.Key())
	for _, r := range rows {
		segments := strings.Split(r.key[base+1:], "/")
		parent, from := at, 0
		for j := len(segments) - 2; j >= 0; j-- {
			if strings.Contains(segments[j], "=") {
				key := r.key[:base+1] + strings.Join(segments[:j+1], "/")
				if parent = entries[key]; parent == nil {
					return fault.New(fault.Internal, "the entry that holds %s is not stored", r.key)
				}
				from = j + 1
				break
			}
		}
		entry, array, err := d.attach1(parent, segments[from:], r.doc)
		if err != nil {
			return err
		}
		if entry == nil {
			continue // the schema no longer has the list
		}
		entries[r.key] = entry
		if array.Node.UserOrdered {
			ranks[entry] = r.doc.rank
			if array.First() == entry {
				ordered = append(ordered, array)
			}
		}
	}
	for _, array := range ordered {
		sortEntries(array, ranks)
	}
	return nil
}

// attach1 adds one entry below parent, making the containers on the way.
func (d *Draft) attach1(parent *yang.Data, segments []string, doc *document) (entry, array *yang.Data, err error) {
	for i, s := range segments {
		name, _, _ := strings.Cut(s, "=")
		n := parent.Node.Member(name)
		if n == nil {
			return nil, nil, nil
		}
		c := parent.Get(n)
		if c == nil {
			c = yang.NewData(n, i == len(segments)-1)
			parent.Add(c)
		}
		parent = c
	}
	o := stored
	o.At = parent
	if entry, err = parent.Node.Decode([]byte(doc.text), o); err != nil {
		return nil, nil, fault.Wrap(fault.Internal, err, "a stored entry of %s does not fit the schema: %v", parent.Path(), err)
	}
	parent.Add(entry)
	return entry, parent, nil
}

// sortEntries brings the entries of an array into the order of their ranks.
func sortEntries(array *yang.Data, ranks map[*yang.Data]string) {
	var all []*yang.Data
	for e := array.First(); e != nil; e = e.Next() {
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b *yang.Data) int { return strings.Compare(ranks[a], ranks[b]) })
	array.Clear()
	for _, e := range all {
		array.Add(e)
	}
}

// Exists reports whether there is an instance at a path.
func (d *Draft) Exists(p Path) (bool, error) {
	if len(p) > 0 && p.Last().document() {
		doc, err := d.get(p.Key())
		return doc != nil, err
	}
	at, err := d.inner(p)
	if at != nil || err != nil {
		return at != nil, err
	}
	prefix := p.Key() + "/"
	if p.Node().IsList() {
		prefix = p.Key() + "="
	}
	rows, err := d.below(prefix)
	return len(rows) > 0, err
}
