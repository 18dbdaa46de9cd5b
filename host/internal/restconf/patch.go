package restconf

import (
	"encoding/json"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
)

// patch merges the body into the target (RFC 8040 section 4.6), or applies a YANG
// patch (RFC 8072).
func (x *exchange) patch(p tree.Path) {
	if t, err := x.contentType(nil); err == nil && (t == mediaYANGPatch || t == mediaYANGPatchXML) {
		x.yangPatch(p)
		return
	}
	_, value, ok := x.value(p, yang.Options{Lenient: true, Partial: true})
	if !ok {
		return
	}
	err := x.update(p, func(d *tree.Draft) error {
		if len(p) > 0 {
			exists, err := d.Exists(p)
			if err != nil {
				return err
			}
			if !exists {
				return missing(p)
			}
		}
		_, err := d.Apply(tree.Edit{Op: tree.Merge, Path: p, Value: value})
		return err
	})
	x.written(err, false, p)
}

// unwrap takes the value out of {"name": value}, when that is the only member and
// has one of the names; any other text is returned as it is.
func unwrap(body []byte, names ...string) ([]byte, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil || len(m) != 1 {
		return body, nil //nolint:nilerr // the schema's decoder says what is wrong
	}
	for _, n := range names {
		if v, ok := m[n]; ok {
			return v, nil
		}
	}
	return body, nil
}
