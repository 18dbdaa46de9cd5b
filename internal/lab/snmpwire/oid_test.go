package snmpwire

import (
	"strings"
	"testing"
)

func TestParseOID(t *testing.T) {
	for _, c := range []struct{ in, out, err string }{
		{"1.3.6.1", "1.3.6.1", ""},
		{".1.0.8802.4294967295", "1.0.8802.4294967295", ""},
		{"", "", "arc 1"},
		{"1..3", "", "arc 2"},
		{"1.4294967296", "", "arc 2"},
		{"1" + strings.Repeat(".1", 128), "", "129 arcs"},
	} {
		o, err := ParseOID(c.in)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("ParseOID(%.20q): error %v, want one with %q", c.in, err, c.err)
			}
			continue
		}
		if err != nil || o.String() != c.out {
			t.Errorf("ParseOID(%q) = %s, %v", c.in, o, err)
		}
	}
}

func TestOIDOrder(t *testing.T) {
	list := []string{"1.3", "1.3.0", "1.3.6", "1.3.6.1", "1.3.10", "1.4"}
	for i := 1; i < len(list); i++ {
		if MustOID(list[i-1]).Compare(MustOID(list[i])) >= 0 {
			t.Errorf("%s does not come before %s", list[i-1], list[i])
		}
	}
}
