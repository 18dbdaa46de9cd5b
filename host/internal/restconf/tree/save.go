package tree

import (
	"strings"

	"ctl.internal/internal/yang"
)

// save replaces the document of p, and with deep those below it, by what at
// holds. at is taken apart. rank is that of the entry itself.
func (d *Draft) save(p Path, at *yang.Data, rank string, deep bool) error {
	d.touched[p.Key()] = touch{p, deep || d.touched[p.Key()].deep}
	old := map[string]*document{}
	if deep {
		rows, err := d.below(p.Key() + "/")
		if err != nil {
			return err
		}
		for _, r := range rows {
			old[r.key] = &r.doc
		}
	}
	kept := map[string]bool{}
	if err := d.split(p, at, rank, old, kept); err != nil {
		return err
	}
	for key := range old {
		if !kept[key] {
			d.drop(key)
		}
	}
	return nil
}

// split writes at as the document of p, and the entries of lists with keys below
// it as documents of their own.
func (d *Draft) split(p Path, at *yang.Data, rank string, old map[string]*document, kept map[string]bool) error {
	lists := detach(p, at, nil)
	if err := d.put(p.Key(), rank, string(at.Append(nil, yang.Canonical))); err != nil {
		return err
	}
	kept[p.Key()] = true
	for _, l := range lists {
		var entries []*yang.Data
		var paths []Path
		for e := l.array.First(); e != nil; e = e.Next() {
			entries = append(entries, e)
			paths = append(paths, append(l.path[:len(l.path):len(l.path)], Step{l.array.Node, e.KeyValues()}))
		}
		var ranks []string
		if l.array.Node.UserOrdered {
			ranks = d.ranks(paths, old)
		}
		for i, e := range entries {
			rank := ""
			if ranks != nil {
				rank = ranks[i]
			}
			if err := d.split(paths[i], e, rank, old, kept); err != nil {
				return err
			}
		}
	}
	return nil
}

// ranks keeps the ranks of entries that are there already as long as they rise,
// new ones coming last; any other order gets new ranks for all.
func (d *Draft) ranks(paths []Path, old map[string]*document) []string {
	out := make([]string, len(paths))
	last, fresh := "", false
	for i, p := range paths {
		doc := old[p.Key()]
		if doc == nil {
			fresh = true
			out[i] = d.appendRank(p.Key())
			continue
		}
		if fresh || doc.rank <= last {
			for j := range out {
				out[j] = d.appendRank(paths[j].Key())
			}
			return out
		}
		last, out[i] = doc.rank, doc.rank
	}
	return out
}

// detached is the array of a list with keys, taken out of its document.
type detached struct {
	path  Path // to the list as a whole, without the last step
	array *yang.Data
}

// detach takes the arrays of lists with keys out of at, containers included.
func detach(p Path, at *yang.Data, out []detached) []detached {
	if at.Node.IsLeaf() || at.Node.Kind == yang.AnyData {
		return out
	}
	for c := at.First(); c != nil; {
		next := c.Next()
		switch {
		case c.Node.Kind == yang.List && len(c.Node.Keys) > 0:
			c.Remove()
			out = append(out, detached{p, c})
		case c.Node.Kind == yang.Container:
			out = detach(append(p[:len(p):len(p)], Step{Node: c.Node}), c, out)
		}
		c = next
	}
	return out
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
		rows, err := d.below(prefix)
		if err != nil {
			return err
		}
		for _, r := range rows {
			d.drop(r.key)
		}
	}
	doc, err := d.get(key)
	if err == nil && doc != nil {
		d.drop(key)
	}
	return err
}
