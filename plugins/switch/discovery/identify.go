package discovery

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctl.internal/plugins/switch/mib"
)

// printableIdentifier is an identifier as text, without the NULs and blanks that some devices put around it; false where it is
// binary, so that its octets are what identifies.
func printableIdentifier(b []byte) (string, bool) {
	text := strings.TrimFunc(mib.Text(b), unicode.IsSpace)
	around := strings.TrimFunc(string(b), func(r rune) bool {
		return r == 0 || r == ' ' || r == '\t' || r == '\r' || r == '\n' || r == 3 || r == 4
	})
	if text == "" {
		return "", len(strings.Trim(string(b), "\x00 ")) == 0
	}
	for i := range len(around) {
		if around[i] < ' ' || around[i] == 0x7f {
			return "", false
		}
	}
	if !utf8.ValidString(around) && len(b) == 6 {
		return "", false
	}
	return text, true
}

// Binary reports whether an identifier is octets that are no text.
func (id Identifier) Binary() bool {
	_, text := printableIdentifier(id.ID)
	return !text
}

// comparableID is an identifier in the form in which two are compared: text without case, else the octets.
func comparableID(b []byte) string {
	text, ok := printableIdentifier(b)
	if !ok {
		return "\x00" + string(b)
	}
	return strings.ToLower(text)
}

// binaryMAC is the address that six octets are which no device would write as text; 0: they are something else.
func binaryMAC(b []byte) mib.MAC {
	if len(b) != 6 {
		return 0
	}
	for _, c := range b {
		if c < ' ' || c > '~' {
			return mib.MACFromBytes(b)
		}
	}
	return 0
}

// isDeviceAddress reports whether an address belongs to one device only: not "::", which telephones without an address
// announce, and the like.
func isDeviceAddress(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsValid() && !a.IsUnspecified() && !a.IsLoopback() && !a.IsMulticast()
}

// isAnonymousChassis reports whether a chassis id is that of no device in particular.
func isAnonymousChassis(c Identifier) bool {
	if a, ok := addressOfChassis(c); ok {
		return !isDeviceAddress(a)
	}
	return len(strings.Trim(string(c.ID), "\x00 ")) == 0
}
