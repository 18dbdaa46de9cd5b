package tree

import (
	"slices"
	"strings"

	"ctl.internal/internal/yang"
)

// saveInstance replaces the document of an instance, and with below those below it, by t.value. rank is that
// of the entry itself.
func (d *Draft) saveInstance(t touch, rank string, below bool) error {
	at, key := t.value, t.path.Key()
	if d.touched[key].deep && !t.deep {
		t.deep, t.value = true, nil
	}
	old := replaced{}
	if below {
		var err error
		if old.rows, err = d.documentsBelow(key + "/"); err != nil {
			return err
		}
		old.kept = make([]bool, len(old.rows))
		for _, r := range old.rows {
			d.forgetOne(r.key)
		}
	}
	d.touched[key] = t
	err := d.putDocument(key, rank, string(at.Append(nil, yang.Canonical|yang.Own)))
	if err != nil {
		return err
	}
	if err := d.splitDocuments([]byte(key), t.path.Node().Module, at, &old); err != nil {
		return err
	}
	for i, r := range old.rows {
		if !old.kept[i] {
			d.dropDocument(r.key)
		}
	}
	return nil
}

// replaced is the documents that were below an instance, by key.
type replaced struct {
	rows []row
	kept []bool
	next int // where to look first
}

// takeDocument returns the document of a key, which stays; nil if there was none.
func (r *replaced) takeDocument(key []byte) *document {
	i := r.next
	if i >= len(r.rows) || r.rows[i].key != string(key) {
		var ok bool
		i, ok = slices.BinarySearchFunc(r.rows, string(key), func(r row, k string) int {
			return strings.Compare(r.key, k)
		})
		if !ok {
			return nil
		}
	}
	r.kept[i], r.next = true, i+1
	return &r.rows[i].doc
}

// splitDocuments writes the entries of the lists with keys below at, whose key is given, as documents.
func (d *Draft) splitDocuments(
	key []byte,
	module string,
	at *yang.Data,
	old *replaced,
) (err error) {
	if at.Node.IsLeaf() || at.Node.Kind == yang.AnyData {
		return nil
	}
	for c := range at.All() {
		switch {
		case c.Node.Keyed():
			err = d.splitList(appendName(key, module, c.Node), c, old)
		case c.Node.Kind == yang.Container:
			err = d.splitDocuments(appendName(key, module, c.Node), c.Node.Module, c, old)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *Draft) splitList(key []byte, array *yang.Data, old *replaced) error {
	key = append(key, '=')
	var ranks []string
	if array.Node.UserOrdered {
		ranks = d.rankEntries(key, array, old)
	}
	i := 0
	for e := range array.All() {
		rank := ""
		if ranks != nil {
			rank = ranks[i]
		}
		i++
		own := appendEntry(key, e)
		if len(own) > maxKey {
			return checkKey(e.Path, len(own))
		}
		d.text = e.Append(d.text[:0], yang.Canonical|yang.Own)
		was := old.takeDocument(own)
		if was == nil || was.rank != rank || was.text != string(d.text) {
			d.changeDocument(string(own), &document{rank, string(d.text)})
		}
		if err := d.splitDocuments(own, array.Node.Module, e, old); err != nil {
			return err
		}
	}
	return nil
}

// rankEntries keeps the ranks of entries that are there already as long as they rise,
// new ones coming last; any other order gets new ranks for all.
func (d *Draft) rankEntries(list []byte, array *yang.Data, old *replaced) []string {
	var out, keys []string
	last := ""
	fresh := false
	again := false
	for e := range array.All() {
		key := string(appendEntry(list, e))
		keys = append(keys, key)
		switch doc := old.takeDocument([]byte(key)); {
		case doc == nil:
			fresh = true
			out = append(out, d.appendRank(key))
		case fresh || doc.rank <= last:
			again = true
			out = append(out, "")
		default:
			last = doc.rank
			out = append(out, doc.rank)
		}
	}
	for i := range out {
		if again {
			out[i] = d.appendRank(keys[i])
		}
	}
	return out
}

// appendName writes the step to a node below one of a module.
func appendName(key []byte, module string, n *yang.Node) []byte {
	key = append(key[:len(key):len(key)], '/')
	if n.Module != module {
		key = append(append(key, n.Module...), ':')
	}
	return append(key, n.Name...)
}

// appendEntry writes the key values of an entry after the key of its list.
func appendEntry(list []byte, e *yang.Data) []byte {
	list = list[:len(list):cap(list)]
	for i, k := range e.Node.Keys {
		if i > 0 {
			list = append(list, ',')
		}
		if v := e.Get(k); v != nil {
			list = appendKey(list, v.Text())
		}
	}
	return list
}

// dropAll deletes the instance of p, a document, with all below it.
func (d *Draft) dropAll(p Path) error {
	key := p.Key()
	delete(d.touched, key)
	for k := range d.touched {
		if strings.HasPrefix(k, key+"/") {
			delete(d.touched, k)
		}
	}
	prefix := key + "/"
	if p.Node().Kind == yang.List && p.Last().Keys == nil {
		prefix = key + "="
	} else if !listsBelow(p.Node()) {
		prefix = ""
	}
	if prefix != "" {
		rows, err := d.documentsBelow(prefix)
		if err != nil {
			return err
		}
		for _, r := range rows {
			d.dropDocument(r.key)
		}
	}
	doc, err := d.getDocument(key)
	if err == nil && doc != nil {
		d.dropDocument(key)
	}
	return err
}
