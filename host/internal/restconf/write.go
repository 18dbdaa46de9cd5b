package restconf

import (
	"encoding/json"
	"net/http"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// putData replaces or creates the target (RFC 8040 section 4.5).
func (x *exchange) putData(p tree.Path) error {
	q, value, err := x.readValue(p, x.bodyOptions())
	if err != nil {
		return err
	}
	created := false
	err = x.updateConfig(p, func(d *tree.Draft) (err error) {
		place := q.place
		if q.place.Where != "" {
			// With insert the entry also moves when it is there already.
			exists, err := d.Exists(p)
			if err != nil {
				return err
			}
			if exists {
				_, err := x.apply(d, tree.Edit{
					Op:    tree.Move,
					Path:  p,
					Place: place,
				})
				if err != nil {
					return err
				}
				place = tree.Place{}
			}
		}
		created, err = x.apply(d, tree.Edit{
			Op:    tree.Replace,
			Path:  p,
			Value: value,
			Place: place,
		})
		return err
	})
	return x.answerWrite(err, created, p)
}

// postData creates a child of the target (RFC 8040 section 4.4.1).
func (x *exchange) postData(p tree.Path) error {
	q, body, err := x.readRequest()
	if err != nil {
		return err
	}
	edits, err := x.decodeChildren(p, body, q)
	if err != nil && x.env == legacy && p.Entry() {
		// Documented samples post an entry to its own path.
		if v, err2 := x.decodeBody(p, body, x.bodyOptions()); err2 == nil {
			edits, err = []tree.Edit{{
				Op:    tree.Create,
				Path:  p,
				Value: v,
				Place: q.place,
			}}, nil
		}
	}
	if err != nil {
		return err
	}
	err = x.updateConfig(p, func(d *tree.Draft) error {
		for _, e := range edits {
			if _, err := x.apply(d, e); err != nil {
				return err
			}
		}
		return nil
	})
	return x.answerWrite(err, true, edits[0].Path)
}

// decodeChildren reads the body of a POST: one child, or several entries of one list.
func (x *exchange) decodeChildren(p tree.Path, body []byte, q query) ([]tree.Edit, error) {
	parent := p.Node()
	if parent == nil {
		parent = x.installed().Schema.Root
	}
	o := x.bodyOptions()
	o.Masks = true
	o.XML = x.inXML
	o.At = append(p[:len(p):len(p)], tree.Step{}).Skeleton()
	list, err := parent.DecodeMembers(body, o)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fault.New(
			fault.Malformed,
			"the body must have exactly one member, it has %d",
			len(list),
		)
	}
	c := list[0]
	if err := configOnly(c); err != nil {
		return nil, err
	}
	step := tree.Step{Node: c.Node}
	if !c.IsArray() || c.Node.Kind == yang.List && len(c.Node.Keys) == 0 {
		return []tree.Edit{{
			Op:    tree.Create,
			Path:  append(p, step),
			Value: c,
			Place: q.place,
		}}, nil
	}
	var edits []tree.Edit
	for e := range c.All() {
		step.Keys = e.KeyValues()
		edits = append(
			edits,
			tree.Edit{
				Op:    tree.Create,
				Path:  append(p[:len(p):len(p)], step),
				Value: e,
				Place: q.place,
			},
		)
	}
	if len(edits) > 1 && x.env == rfc8040 {
		return nil, fault.At(
			fault.Invalid,
			c.Path(),
			"a POST creates one entry (RFC 8040 section 4.4.1), this body has %d: use PATCH for several",
			len(edits),
		)
	}
	if len(edits) == 0 {
		return nil, fault.At(fault.Missing, c.Path(), "there is no entry to create")
	}
	return edits, nil
}

// deleteData removes the target (RFC 8040 section 4.7).
func (x *exchange) deleteData(p tree.Path) error {
	_, err := x.parseQuery()
	if err == nil {
		err = x.updateConfig(p, func(d *tree.Draft) error {
			_, err := x.apply(d, tree.Edit{
				Op:   tree.Delete,
				Path: p,
			})
			return absentTarget(err)
		})
	}
	return x.answerWrite(err, false, p)
}

// readValue reads the body as the target's new value.
func (x *exchange) readValue(p tree.Path, o yang.Options) (q query, value *yang.Data, err error) {
	q, body, err := x.readRequest()
	if err == nil {
		value, err = x.decodeBody(p, body, o)
	}
	return q, value, err
}

// updateConfig applies f to the configuration under the request's conditions.
func (x *exchange) updateConfig(p tree.Path, f func(*tree.Draft) error) error {
	return x.config.Update(x.r.Context(), x.installed().Schema, func(d *tree.Draft) error {
		if err := x.checkConditions(d, p); err != nil {
			return err
		}
		return f(d)
	})
}

// answerWrite answers a write.
func (x *exchange) answerWrite(err error, created bool, at tree.Path) error {
	switch {
	case err != nil:
	case created && len(at) > 0:
		root := "/rests/data"
		if x.env == legacy {
			root = "/restconf/config"
		}
		if x.ds != "" {
			root = "/rests/ds/ietf-datastores:" + x.ds
		}
		x.w.Header().Set("Location", root+locationPath(at))
		x.w.WriteHeader(http.StatusCreated)
	case x.env == legacy:
		x.w.WriteHeader(http.StatusOK)
	default:
		x.w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// patchData merges the body into the target (RFC 8040 section 4.6), or applies a YANG
// patch (RFC 8072).
func (x *exchange) patchData(p tree.Path) error {
	if t, err := x.contentType(nil); err == nil && (t == mediaYANGPatch || t == mediaYANGPatchXML) {
		return x.yangPatch(p)
	}
	o := x.bodyOptions()
	o.Partial = true
	_, value, err := x.readValue(p, o)
	if err != nil {
		return err
	}
	err = x.updateConfig(p, func(d *tree.Draft) error {
		if len(p) > 0 {
			exists, err := d.Exists(p)
			if err != nil {
				return err
			}
			if !exists {
				return missingDataError(p)
			}
		}
		_, err := x.apply(d, tree.Edit{
			Op:    tree.Merge,
			Path:  p,
			Value: value,
		})
		return err
	})
	return x.answerWrite(err, false, p)
}

// unwrapMember takes the value out of {"name": value}, when that is the only member and
// has one of the names; any other text is returned as it is.
func unwrapMember(body []byte, names ...string) []byte {
	var m map[string]json.RawMessage
	err := json.Unmarshal(body, &m)
	if err != nil || len(m) != 1 {
		return body // the schema's decoder says what is wrong
	}
	for _, n := range names {
		if v, ok := m[n]; ok {
			return v
		}
	}
	return body
}
