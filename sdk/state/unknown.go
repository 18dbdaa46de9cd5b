package state

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// members are those of a JSON object that a type has no field for: a later release wrote
// them, and a write by this one must not drop them.
type members map[string]json.RawMessage

// decodeStrict decodes JSON that has no members but those that v has fields for, and says whether it
// was such.
func decodeStrict(text []byte, v any) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(v) == nil && d.InputOffset() == int64(len(text))
}

// unknownTo returns the members of an object that struct T does not know. Objects inside
// the object are not looked into.
func unknownTo[T any](object []byte) members {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return nil
	}
	var v T
	var all members
	if json.Unmarshal(object, &all) != nil {
		return nil
	}
	for name := range all {
		if one, err := json.Marshal(members{name: all[name]}); err == nil {
			d := json.NewDecoder(bytes.NewReader(one))
			d.DisallowUnknownFields()
			err := d.Decode(&v)
			if err == nil || !strings.Contains(err.Error(), "unknown field "+strconv.Quote(name)) {
				delete(all, name)
			}
		}
	}
	return all
}

// addInto returns an object with the members added.
func (m members) addInto(object []byte) []byte {
	if len(m) == 0 { // also of values that are no JSON
		return object
	}
	object = bytes.TrimSpace(object)
	if len(object) < 2 || object[len(object)-1] != '}' {
		return object
	}
	out := slices.Clone(object[:len(object)-1])
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		key, _ := json.Marshal(name) // a string can be written
		out = append(append(append(out, key...), ':'), m[name]...)
	}
	return append(out, '}')
}
