package tree

import (
	"cmp"
	"slices"

	"ctl.internal/internal/yang"
)

// lists reads what conditions look at, each part once. It implements yang.Lists.
type lists struct {
	d       *Draft
	root    *yang.Data
	members map[spot]*yang.Data
	entries map[string]*yang.Data
	err     error
}

// spot is a member of an instance.
type spot struct {
	at *yang.Data
	n  *yang.Node
}

func newLists(d *Draft) *lists {
	return &lists{
		d:       d,
		root:    yang.NewData(d.set.Root, false),
		members: map[spot]*yang.Data{},
		entries: map[string]*yang.Data{},
	}
}

// Member implements yang.Lists.
func (l *lists) Member(at *yang.Data, n *yang.Node) *yang.Data {
	key := spot{at, n}
	found, known := l.members[key]
	if known || l.err != nil || !n.Config {
		return found
	}
	if n.Keyed() {
		found = l.shareEntries(at, l.load(at, append(pathOf(at), Step{Node: n})))
	} else {
		found = l.top(n)
	}
	l.members[key] = found
	return found
}

// Entry implements yang.Lists.
func (l *lists) Entry(at *yang.Data, n *yang.Node, keys []string) *yang.Data {
	p := append(pathOf(at), Step{Node: n, Keys: keys})
	key := p.Key()
	found, known := l.entries[key]
	if known || l.err != nil || len(key) > maxKey {
		return found
	}
	if array := l.members[spot{at, n}]; array != nil {
		return array.Entry(keys)
	}
	array := yang.NewData(n, true)
	array.Under(at)
	found = l.load(array, p)
	l.entries[key] = found
	return found
}

// load reads an instance with all below it, for a place below at.
func (l *lists) load(at *yang.Data, p Path) *yang.Data {
	found, err := l.d.Load(p)
	if err != nil || found == nil {
		l.err = err
		return nil
	}
	found.Under(at)
	found.AddDefaults(yang.Default, isConfig)
	return found
}

func isConfig(n *yang.Node) bool { return n.Config }

// top reads a top-level instance without the lists with keys in it.
func (l *lists) top(n *yang.Node) *yang.Data {
	p := Path{{Node: n}}
	found, err := l.d.loadInner(p)
	if found == nil && err == nil && listsBelow(n) {
		var exists bool
		if exists, err = l.d.Exists(p); exists {
			found = yang.NewData(n, false)
		}
	}
	if err != nil {
		l.err = err
		return nil
	}
	if found == nil {
		found = yang.NewData(l.d.set.Root, false).AddDefault(n, yang.Default, isConfig)
		if found != nil {
			found.Under(l.root)
		}
		return found
	}
	found.Under(l.root)
	found.AddDefaults(yang.Default, isConfig)
	found.AddContainers(func(at *yang.Data, m *yang.Node) bool {
		exists, err := l.d.Exists(append(pathOf(at), Step{Node: m}))
		if err != nil {
			l.err = err
		}
		return exists
	})
	return found
}

// shareEntries returns a list below at, with the entries that were read before it in the place of their copies, so that a
// node is the same however an expression gets there.
func (l *lists) shareEntries(at, array *yang.Data) *yang.Data {
	if array == nil || len(l.entries) == 0 {
		return array
	}
	list := append(pathOf(at), Step{Node: array.Node})
	shared := yang.NewData(array.Node, true)
	shared.Under(at)
	for _, e := range slices.Collect(array.All()) {
		list[len(list)-1].Keys = e.KeyValues()
		shared.Add(cmp.Or(l.entries[list.Key()], e))
	}
	return shared
}

// array is a list with keys that is in no other such list, nil if it has no entries.
func (l *lists) array(n *yang.Node) *yang.Data {
	at := l.holder(n)
	if at == nil {
		return nil
	}
	return l.Member(at, n)
}

// entry is an entry of such a list.
func (l *lists) entry(p Path) *yang.Data {
	at := l.holder(p.Node())
	if at == nil {
		return nil
	}
	return l.Entry(at, p.Node(), p.Last().Keys)
}

// holder is the instance that a list with keys, which is in no other one, is in.
func (l *lists) holder(n *yang.Node) *yang.Data {
	up := n.DataParent()
	switch {
	case up == nil:
		return l.root
	case up.DataParent() == nil:
		return l.Member(l.root, up)
	}
	at := l.holder(up)
	if at == nil {
		return nil
	}
	return at.Get(up)
}
