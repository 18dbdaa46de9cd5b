package netconf

import (
	"testing"

	"ctl.internal/internal/netconf/xmltree"
)

// FuzzNotification reads what routers send unasked: an event with a content and a time,
// or an error.
func FuzzNotification(f *testing.F) {
	for _, inner := range []string{"<eventTime>2026-01-02T03:04:05Z</eventTime><e xmlns='urn:x'/>", "<e/>", "<eventTime>x</eventTime>", ""} {
		f.Add([]byte(`<notification xmlns="` + NSNotification + `">` + inner + `</notification>`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := xmltree.Parse(data)
		if err != nil {
			return
		}
		if got, err := readNotification(n); (err == nil) != (got.Body != nil) || got.At.IsZero() {
			t.Errorf("%q: %+v, %v", data, got, err)
		}
	})
}

// FuzzModule looks for a module among capabilities; what is found was asked for.
func FuzzModule(f *testing.F) {
	f.Add("urn:x?module=ietf-bier&amp;revision=2016-07-23", "ietf-bier")
	f.Add("urn:x?revision=2016-07-23&module=ietf-bier", "ietf-bier")
	f.Add("urn:x?module=%zz", "%zz")
	f.Fuzz(func(t *testing.T, capability, name string) {
		c := Capabilities{capability}
		if m, ok := c.Module(name); ok && (m.Name != name || !c.Has(m.Namespace)) {
			t.Errorf("%q: found %+v as %q", capability, m, name)
		}
	})
}
