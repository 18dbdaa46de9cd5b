package restconf

import (
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// bodyOptions say how the values of a body are read: the forms of older clients (docs/restconf.md) below /restconf alone.
func (x *exchange) bodyOptions() yang.Options {
	old := x.env == legacy
	return yang.Options{
		Lenient: old,
		Exact:   !old,
	}
}

// decodeBody reads a body {"name": value} as the instance at p: of an entry, an array
// with that entry alone.
func (x *exchange) decodeBody(p tree.Path, body []byte, o yang.Options) (*yang.Data, error) {
	root := x.installed().Schema.Root
	o.XML, o.Masks = x.inXML, true
	if len(p) == 0 {
		return x.decodeAll(root, body, o)
	}
	holder := root
	if len(p) > 1 {
		holder = p[len(p)-2].Node
	}
	o.At = p.Skeleton()
	o.Single = x.env == legacy // documented samples send an entry without brackets
	list, err := holder.DecodeMembers(body, o)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || list[0].Node != p.Node() {
		return nil, fault.New(
			fault.Malformed,
			"the body must have the member %q and no other",
			p.Node().Name,
		)
	}
	v := list[0]
	if err := configOnly(v); err != nil {
		return nil, err
	}
	if !p.Entry() {
		return v, nil
	}
	e := v.First()
	if e == nil || e.Next() != nil {
		return nil, fault.At(
			fault.Invalid,
			v.Path(),
			"the array must contain only the entry that the path names",
		)
	}
	if v.Entry(p.Last().Keys) == nil {
		return nil, fault.At(
			fault.Invalid,
			e.Path(),
			"the keys of the entry differ from those of the path",
		)
	}
	return e, nil
}

// decodeAll reads the whole datastore: {"data": {…}}, the name qualified or not.
func (x *exchange) decodeAll(root *yang.Node, body []byte, o yang.Options) (*yang.Data, error) {
	if !o.XML {
		body = unwrapMember(body, "data", "ietf-restconf:data")
	}
	d, err := root.Decode(body, o)
	if err != nil {
		return nil, err
	}
	return d, configOnly(d)
}

// configOnly refuses state in what a client writes.
func configOnly(d *yang.Data) error {
	var l fault.List
	var walk func(*yang.Data)
	walk = func(d *yang.Data) {
		if d.Node != nil && !d.Node.Config {
			l = append(
				l,
				fault.At(fault.Invalid, d.Path(), "this is state data and cannot be configured"),
			)
			return
		}
		for c := d.First(); c != nil && (d.Node == nil || d.Node.Kind != yang.AnyData); c = c.Next() {
			walk(c)
		}
	}
	walk(d)
	return l.Err()
}
