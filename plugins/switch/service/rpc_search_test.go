package service

import (
	"net/netip"
	"testing"

	"ctl.internal/plugins/switch/mib"
)

// A part of an address is found in each form in which people write it.
func TestNeedle(t *testing.T) {
	mac, err := mib.ParseMAC("00:1b:17:aa:0c:fe")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"00:1b":             true,
		"001B":              true,
		"17-AA-0c":          true,
		"17aa.0cfe":         true,
		"00:1b:17:aa:0c:fe": true,
		"1b18":              false,
		"":                  false,
	} {
		if got := text != "" && newNeedle(text).inMAC(mac); got != want {
			t.Errorf("%q is in %s: %t", text, mac, got)
		}
	}
	for _, test := range []struct {
		text, address string
		want          bool
	}{
		{"10.1", "10.1.2.3", true},
		{"10.1.2.3", "::ffff:10.1.2.3", true},
		{"2001:DB8::1", "2001:db8::1", true},
		{"2001:db8:0:0:0:0:0:1", "2001:db8::1", true},
		{"0db8:0000", "2001:db8::1", true},
		{"db8::2", "2001:db8::1", false},
		{"10.2", "10.1.2.3", false},
	} {
		if got := newNeedle(test.text).inIP(netip.MustParseAddr(test.address)); got != test.want {
			t.Errorf("%q is in %s: %t", test.text, test.address, got)
		}
	}
}
