package tree

import (
	"slices"
	"strings"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// stored is how documents are read back: they were valid when they were written,
// but a module may have lost a member since, or restricted a type.
var stored = yang.Options{
	Partial: true,
	Shallow: true,
	Drop:    true,
	Kept:    true,
}

// Load returns the instance that a path leads to with everything below it, nil
// if it does not exist. A list without keys in the path is its array; the empty path
// is the whole datastore.
func (d *Draft) Load(p Path) (*yang.Data, error) {
	s, err := d.Stored(p)
	if err != nil || s == nil {
		return nil, err
	}
	return Decode(p, s)
}

// Decode reads what Stored returned for a path.
func Decode(p Path, s *yang.Stored) (*yang.Data, error) {
	o := stored
	o.At = p.parentSkeleton()
	at, err := s.Decode(o)
	if err != nil {
		return nil, fault.Wrap(
			fault.Internal,
			err,
			"the data at %s does not match the schema: %v",
			p,
			err,
		)
	}
	return at, nil
}

// DecodeStored reads a document as the datastore has it; p leads to it.
func DecodeStored(p Path, value []byte) (*yang.Data, error) {
	return Decode(
		p,
		&yang.Stored{
			Node: p.Node(),
			Text: decodeDocument(datastore.Entry{Value: value}).text,
		},
	)
}

// Stored is Load without decoding.
func (d *Draft) Stored(p Path) (*yang.Stored, error) {
	if len(p) == 0 {
		return d.loadWholeTree()
	}
	n := p.Node()
	out := &yang.Stored{Node: n}
	prefix := p.Key() + "/"
	if n.Keyed() && p.Last().Keys == nil {
		out.Array, prefix = true, p.Key()+"="
	} else if err := d.innerText(p, out); err != nil || out.Text != "" && !listsBelow(n) {
		return out, err
	} else if !listsBelow(n) {
		return nil, nil
	}
	a := assembly{at: out, base: len(p.Key())}
	if err := d.eachDocument(prefix, a.addDocument); err != nil {
		return nil, err
	}
	a.sortArrays()
	if out.Text == "" && !a.any {
		return nil, nil
	}
	if out.Text == "" && p.Entry() {
		out.Text = string(entryOf(p.Last()).Append(nil, yang.Canonical))
	}
	return out, nil
}

// innerText sets the text of an instance without the documents below it.
func (d *Draft) innerText(p Path, out *yang.Stored) error {
	owner := p.Owner()
	if len(owner) == len(p) && (p.Last().isDocument() || !p.Entry()) {
		doc, err := d.getDocument(owner.Key())
		if doc != nil {
			out.Text = doc.text
		}
		return err
	}
	at, err := d.loadInner(p)
	if at != nil {
		out.Text = string(at.Append(nil, yang.Canonical))
	}
	return err
}

// loadInner returns an instance without the documents below it.
func (d *Draft) loadInner(p Path) (*yang.Data, error) {
	owner := p.Owner()
	doc, err := d.getDocument(owner.Key())
	if err != nil || doc == nil {
		return nil, err
	}
	at, err := Decode(owner, &yang.Stored{
		Node: owner.Node(),
		Text: doc.text,
	})
	if err != nil {
		return nil, err
	}
	s := p[0]
	if len(p) == 1 && s.Node.Kind == yang.LeafList && s.Keys != nil {
		return at.Entry(s.Keys), nil
	}
	return Descend(at, p[len(owner):]), nil
}

// Descend follows steps down from an instance; nil when there is nothing.
func Descend(at *yang.Data, steps Path) *yang.Data {
	for _, s := range steps {
		if at == nil {
			break
		}
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

// loadWholeTree returns the datastore under the schema's root.
func (d *Draft) loadWholeTree() (*yang.Stored, error) {
	root := &yang.Stored{Node: d.set.Root}
	for _, n := range d.set.Root.Members() {
		c, err := d.Stored(Path{{Node: n}})
		if err != nil {
			return nil, err
		}
		if c != nil {
			root.Below = append(root.Below, c)
		}
	}
	if root.Below == nil {
		return nil, nil
	}
	return root, nil
}

// assembly puts documents, which come in the order of keys, below an instance.
type assembly struct {
	at      *yang.Stored
	base    int      // bytes of the key of at
	any     bool     // there were documents
	holders []holder // entries of lists with lists below them, whose keys the next key may begin with
	ordered []*yang.Stored
	array   *yang.Stored // the one that the last entry went to
	prefix  string       // of the keys of its entries
	deep    bool         // it has lists below its entries
}

// holder is an entry that others may be below of.
type holder struct {
	key   string
	array *yang.Stored
	index int
}

func (a *assembly) addDocument(key string, doc document) error {
	a.any = true
	// Keys that begin with one key come in a row.
	for len(a.holders) > 0 && !strings.HasPrefix(key, a.holders[len(a.holders)-1].key) {
		a.holders = a.holders[:len(a.holders)-1]
	}
	rest, same := strings.CutPrefix(key, a.prefix)
	if !same || a.prefix == "" || strings.IndexByte(rest, '/') >= 0 {
		var err error
		if a.array, err = a.arrayOf(key); err != nil || a.array == nil {
			a.prefix = ""
			return err // nil when the schema no longer has the list
		}
		a.prefix = key[:strings.LastIndexByte(key, '=')+1]
		if a.array.Node.UserOrdered && a.array.Len() == 0 {
			a.ordered = append(a.ordered, a.array)
		}
		a.deep = listsBelow(a.array.Node)
	}
	if a.deep {
		a.holders = append(a.holders, holder{key, a.array, a.array.Len()})
	}
	a.array.Texts = append(growTexts(a.array.Texts), doc.text)
	if a.array.Node.UserOrdered {
		a.array.Order = append(a.array.Order, doc.rank)
	}
	return nil
}

// growTexts has a long list grow in fewer steps than append does: a quarter of the time of reading one
// went into copies.
func growTexts(texts []string) []string {
	if n := len(texts); n == cap(texts) && n >= 64 {
		return slices.Grow(texts, 3*n)
	}
	return texts
}

func (a *assembly) sortArrays() {
	for _, array := range a.ordered {
		array.Sort()
	}
}

// arrayOf returns the array that the entry of a key belongs to, making the containers on the way; nil
// if the schema does not have it any more.
func (a *assembly) arrayOf(key string) (*yang.Stored, error) {
	at, end := a.at, a.base
	steps := strings.Split(key[a.base:], "/")
	for i, s := range steps {
		end += len(s)
		name, _, keyed := strings.Cut(s, "=")
		if name != "" {
			n := at.Node.Member(name)
			if n == nil {
				return nil, nil
			}
			at = at.Child(n)
		}
		if keyed && i < len(steps)-1 {
			i := slices.IndexFunc(a.holders, func(h holder) bool {
				return h.key == key[:end]
			})
			if i < 0 {
				return nil, fault.New(fault.Internal, "the parent entry of %s does not exist", key)
			}
			at = a.holders[i].array.Entry(a.holders[i].index)
		}
		end++ // the slash
	}
	return at, nil
}

// Exists reports whether there is an instance at a path.
func (d *Draft) Exists(p Path) (bool, error) {
	if len(p) > 0 && p.Last().isDocument() {
		doc, err := d.getDocument(p.Key())
		return doc != nil, err
	}
	at, err := d.loadInner(p)
	if at != nil || err != nil {
		return at != nil, err
	}
	prefix := p.Key() + "/"
	if p.Node().IsList() {
		prefix = p.Key() + "="
	}
	rows, err := d.documentsBelow(prefix)
	return len(rows) > 0, err
}
