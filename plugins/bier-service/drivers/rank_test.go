package drivers

import (
	"strings"
	"testing"

	"ctl.internal/sdk/bierdriver"
)

func TestRank(t *testing.T) {
	all := []bierdriver.Description{
		{Name: "cli", Probes: true, Priority: -1},
		{Name: "ietf", Probes: true, Capabilities: []string{"urn:ietf:params:xml:ns:yang:ietf-bier"}},
		{Name: "vendor", Probes: true, Capabilities: []string{"http://vendor.example/bier"}},
		{Name: "newer", Probes: true, Priority: 5},
		{Name: "asked-for", Probes: false, Priority: 99},
	}
	for name, c := range map[string]struct{ capabilities, want string }{
		"nothing known":  {"", "newer ietf vendor cli"},
		"the standard":   {"urn:ietf:params:xml:ns:yang:ietf-bier?module=ietf-bier&revision=2016-07-23", "ietf newer vendor cli"},
		"two of them":    {"http://vendor.example/bier/1 urn:ietf:params:xml:ns:yang:ietf-bier", "ietf vendor newer cli"},
		"something else": {"urn:other", "newer ietf vendor cli"},
	} {
		var got []string
		for _, d := range rankDrivers(all, strings.Fields(c.capabilities)) {
			got = append(got, d.Name)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", name, s, c.want)
		}
	}
}
