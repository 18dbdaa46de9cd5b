package policy

import (
	"testing"

	"ctl.internal/sdk/fault"
)

func TestIndexOrders(t *testing.T) {
	for _, c := range []struct{ in, first string }{
		{`[{"resource":"/b"},{"resource":"/a"}]`, "/b"},
		{`[{"resource":"/b","index":7},{"resource":"/a","index":3}]`, "/a"},
		{`[{"resource":"/b","index":7},{"resource":"/a"}]`, ""},
		{`[{"resource":"/b","index":7},{"resource":"/a","index":7}]`, ""},
	} {
		list, err := decodePolicies([]byte(`{"policies":{"policies":` + c.in + `}}`))
		if c.first == "" {
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: %v", c.in, err)
			}
		} else if err != nil || list[0].Resource != c.first {
			t.Errorf("%s: %v, %v", c.in, list, err)
		}
	}
}
