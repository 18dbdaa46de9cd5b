package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"ctl.internal/sdk/fault"
)

// decode reads the content of http-authorization in canonical RFC 7951 JSON, as the
// configuration tree gives it; empty content has no policies.
func decode(content json.RawMessage) ([]Policy, error) {
	if len(content) == 0 {
		return nil, nil
	}
	var c struct {
		Policies struct {
			Policies []Policy `json:"policies"`
		} `json:"policies"`
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the policies are not as module aaa says: %v", err)
	}
	return c.Policies.Policies, order(c.Policies.Policies)
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
