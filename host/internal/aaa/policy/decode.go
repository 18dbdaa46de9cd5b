package policy

import (
	"bytes"
	"encoding/json"
	"io"

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
	return out, nil
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
