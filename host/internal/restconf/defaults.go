package restconf

import (
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
)

// addsDefaults reports whether an answer has the defaults that are in use: by with-defaults=report-all, and in the
// operational datastore, which shows what is in use (RFC 8342 section 5.3).
func (x *exchange) addsDefaults(q query, n *yang.Node) bool {
	return (q.defaults == "report-all" || q.defaults == "" && x.ds == "operational") &&
		n.HasDefaults()
}

// wantsDefault reports whether a default is in the part of the data that was asked for.
func (q *query) wantsDefault(n *yang.Node) bool {
	return !n.Secret() && (q.content == "all" || n.Config == (q.content == "config"))
}

// defaultAt replaces data that nobody has set: the default of a leaf or leaf-list, which is sent whatever
// with-defaults says (RFC 8040 section 3.5.4), or a container with defaults below it where these are shown. It is nil
// when nothing does, and when what it would stand in does not exist.
func (x *exchange) defaultAt(kind string, q query, p tree.Path) (*yang.Data, error) {
	n := p.Node()
	if x.own ||
		p.Entry() ||
		!n.HasDefaults() ||
		n.IsLeaf() && !q.wantsDefault(n) ||
		!n.IsLeaf() && !x.addsDefaults(q, n) {
		return nil, nil
	}
	i := len(p) - 1
	for i > 0 && p[i-1].Keys == nil && !p[i-1].Node.Presence {
		i--
	}
	holder, err := x.defaultHolder(kind, p, i)
	if holder == nil || err != nil {
		return nil, err
	}
	holder.AddDefaults(yang.Default, q.wantsDefault)
	return tree.Descend(holder, p[i:]), nil
}

// defaultHolder is the parent of the default at p, if the i steps to it exist; for the top of the tree an instance
// with what may exclude the default by a choice.
func (x *exchange) defaultHolder(kind string, p tree.Path, i int) (*yang.Data, error) {
	load := func(p tree.Path) (*yang.Data, error) {
		found, err := x.readInstance(kind, "all", p)
		if err != nil || found.stored == nil && found.at == nil {
			return nil, err
		}
		return found.decodeData(p)
	}
	if i > 0 {
		return load(p[:i])
	}
	root := yang.NewData(x.installed().Schema.Root, false)
	members := []*yang.Node{p[0].Node}
	c := p[0].Node.Parent
	if c != nil && c.Kind == yang.Case {
		for c.Parent != nil {
			c = c.Parent
		}
		members = c.DataNodes()
	}
	for _, m := range members {
		at, err := load(tree.Path{{Node: m}})
		if err != nil {
			return nil, err
		}
		if at != nil {
			root.Put(at)
		}
	}
	return root, nil
}
