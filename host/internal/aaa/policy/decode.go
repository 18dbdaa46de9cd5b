package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"ctl.internal/sdk/fault"
)

// Decode reads the policies of a stored document: the container policies or
// http-authorization in RFC 7951 JSON, with or without module prefixes.
func Decode(data []byte) ([]Policy, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "the policies are not JSON")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fault.New(fault.Malformed, "there is text after the policies")
	}
	v = bare(v)
	for {
		o, ok := v.(map[string]any)
		if !ok {
			break
		}
		if inner, ok := o["http-authorization"]; ok {
			v = inner
		} else if inner, ok := o["policies"]; ok {
			v = inner
		} else if len(o) == 0 {
			return nil, nil
		} else {
			return nil, fault.New(fault.Unknown, "a container policies is expected")
		}
	}
	again, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "the policies cannot be read")
	}
	var out []Policy
	strict := json.NewDecoder(bytes.NewReader(again))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&out); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the policies are not as module aaa says: %v", err)
	}
	return out, order(out)
}

// order sorts policies by their index. Either all have one or none has.
func order(list []Policy) error {
	with := 0
	seen := map[uint32]string{}
	for _, p := range list {
		if p.Index == nil {
			continue
		}
		with++
		if other, twice := seen[*p.Index]; twice {
			return fault.New(fault.Invalid, "the policies %q and %q have the same index %d", other, p.Resource, *p.Index)
		}
		seen[*p.Index] = p.Resource
	}
	switch with {
	case 0:
		return nil
	case len(list):
		slices.SortStableFunc(list, func(a, b Policy) int { return cmp.Compare(*a.Index, *b.Index) })
		return nil
	}
	return fault.New(fault.Invalid, "%d of %d policies have an index: give it to all, or to none, which are then asked in their order", with, len(list))
}

// bare removes the module prefix of member names.
func bare(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, inner := range t {
			if len(k) > 4 && k[:4] == "aaa:" {
				k = k[4:]
			}
			out[k] = bare(inner)
		}
		return out
	case []any:
		for i := range t {
			t[i] = bare(t[i])
		}
	}
	return v
}
