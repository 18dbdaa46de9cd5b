package restconf

import (
	"net/http"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// put replaces or creates the target (RFC 8040 section 4.5).
func (x *exchange) put(p tree.Path) {
	q, value, ok := x.value(p, yang.Options{Lenient: true})
	if !ok {
		return
	}
	created := false
	err := x.update(p, func(d *tree.Draft) (err error) {
		v, err := value()
		if err != nil {
			return err
		}
		op := tree.Replace
		if q.place.Where != "" {
			// With insert the entry also moves when it is there already.
			exists, err := d.Exists(p)
			if err != nil {
				return err
			}
			if exists {
				if _, err := d.Apply(tree.Edit{Op: tree.Move, Path: p, Place: q.place}); err != nil {
					return err
				}
				q.place = tree.Place{}
			}
		}
		created, err = d.Apply(tree.Edit{Op: op, Path: p, Value: v, Place: q.place})
		return err
	})
	x.written(err, created, p)
}

// post creates a child of the target (RFC 8040 section 4.4.1).
func (x *exchange) post(p tree.Path) {
	q, err := x.query()
	if err != nil {
		x.fail(err)
		return
	}
	body, _, err := x.body()
	if err != nil {
		x.fail(err)
		return
	}
	read := x.children
	first, err := read(p, body, q)
	if err != nil && x.env == legacy && p.Entry() {
		// Documented samples post an entry to its own path.
		var err2 error
		if first, err2 = x.entryItself(p, body, q); err2 == nil {
			read, err = x.entryItself, nil
		}
	}
	if err != nil {
		x.fail(err)
		return
	}
	var at tree.Path
	err = x.update(p, func(d *tree.Draft) error {
		edits := first
		if first = nil; edits == nil { // applying may take values apart
			var err error
			if edits, err = read(p, body, q); err != nil {
				return err
			}
		}
		at = edits[0].Path
		for _, e := range edits {
			if _, err := d.Apply(e); err != nil {
				return err
			}
		}
		return nil
	})
	x.written(err, true, at)
}

// children reads the body of a POST: one child, or several entries of one list.
func (x *exchange) children(p tree.Path, body []byte, q query) ([]tree.Edit, error) {
	parent := p.Node()
	if parent == nil {
		parent = x.installed().Schema.Root
	}
	o := yang.Options{Lenient: true, XML: x.inXML, At: append(p[:len(p):len(p)], tree.Step{}).Skeleton()}
	list, err := parent.DecodeMembers(body, o)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fault.New(fault.Malformed, "the body must have exactly one member, it has %d", len(list))
	}
	c := list[0]
	if err := configOnly(c); err != nil {
		return nil, err
	}
	step := tree.Step{Node: c.Node}
	if !c.IsArray() || c.Node.Kind == yang.List && len(c.Node.Keys) == 0 {
		return []tree.Edit{{Op: tree.Create, Path: append(p, step), Value: c, Place: q.place}}, nil
	}
	var edits []tree.Edit
	for e := c.First(); e != nil; {
		next := e.Next()
		step.Keys = []string{e.Text()}
		if c.Node.Kind == yang.List {
			step.Keys = e.KeyValues()
		}
		edits = append(edits, tree.Edit{Op: tree.Create, Path: append(p[:len(p):len(p)], step), Value: e, Place: q.place})
		e = next
	}
	if len(edits) == 0 {
		return nil, fault.At(fault.Missing, c.Path(), "there is no entry to create")
	}
	return edits, nil
}

func (x *exchange) entryItself(p tree.Path, body []byte, q query) ([]tree.Edit, error) {
	v, err := x.decode(p, body, yang.Options{Lenient: true})
	return []tree.Edit{{Op: tree.Create, Path: p, Value: v, Place: q.place}}, err
}

// delete removes the target (RFC 8040 section 4.7).
func (x *exchange) delete(p tree.Path) {
	_, err := x.query()
	if err == nil {
		err = x.update(p, func(d *tree.Draft) error {
			_, err := d.Apply(tree.Edit{Op: tree.Delete, Path: p})
			return absentTarget(err)
		})
	}
	x.written(err, false, p)
}

// value reads the body as the target's new value. It is decoded again for each attempt but the
// first, because applying it may take it apart.
func (x *exchange) value(p tree.Path, o yang.Options) (query, func() (*yang.Data, error), bool) {
	q, err := x.query()
	var body []byte
	if err == nil {
		body, _, err = x.body()
	}
	var first *yang.Data
	if err == nil {
		first, err = x.decode(p, body, o)
	}
	if err != nil {
		x.fail(err)
		return q, nil, false
	}
	return q, func() (*yang.Data, error) {
		if v := first; v != nil {
			first = nil
			return v, nil
		}
		return x.decode(p, body, o)
	}, true
}

// update applies f to the configuration under the request's conditions.
func (x *exchange) update(p tree.Path, f func(*tree.Draft) error) error {
	return x.config.Update(x.r.Context(), x.installed().Schema, func(d *tree.Draft) error {
		if err := x.conditions(d, p); err != nil {
			return err
		}
		return f(d)
	})
}

// written answers a write.
func (x *exchange) written(err error, created bool, at tree.Path) {
	switch {
	case err != nil:
		x.fail(err)
	case created && len(at) > 0:
		root := "/rests/data"
		if x.env == legacy {
			root = "/restconf/config"
		}
		if x.ds != "" {
			root = "/rests/ds/ietf-datastores:" + x.ds
		}
		x.w.Header().Set("Location", root+location(at))
		x.w.WriteHeader(http.StatusCreated)
	case x.env == legacy:
		x.w.WriteHeader(http.StatusOK)
	default:
		x.w.WriteHeader(http.StatusNoContent)
	}
}
