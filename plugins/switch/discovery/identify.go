package discovery

import (
	"net/netip"
	"regexp"
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

// interfaceParts are the letters of an interface's name and what follows them: "Gi", "1/0/4".
var interfaceParts = regexp.MustCompile(`^([A-Za-z][A-Za-z \-]*?)[ \-]*([0-9].*)$`)

// shortForms are the short names of kinds of interfaces that are no beginnings of the long ones.
var shortForms = map[string]string{
	"ge":               "gigabitethernet",
	"gige":             "gigabitethernet",
	"gei":              "gigabitethernet",
	"xge":              "tengigabitethernet",
	"xgigabitethernet": "tengigabitethernet",
	"tengige":          "tengigabitethernet",
	"xe":               "tengigabitethernet",
	"tge":              "tengigabitethernet",
	"twentyfivegige":   "twentyfivegigabitethernet",
	"fge":              "fortygigabitethernet",
	"fortygige":        "fortygigabitethernet",
	"hundredgige":      "hundredgigabitethernet",
	"fe":               "fastethernet",
	"bagg":             "bridgeaggregation",
	"mge":              "multigigabitethernet",
}

// sameInterface reports whether two names may be of one interface: "Gi1/0/4" and "GigabitEthernet1/0/4".
func sameInterface(a, b string) bool {
	x := interfaceParts.FindStringSubmatch(strings.TrimSpace(a))
	y := interfaceParts.FindStringSubmatch(strings.TrimSpace(b))
	if x == nil || y == nil || !strings.EqualFold(x[2], y[2]) {
		return false
	}
	p, q := kindOf(x[1]), kindOf(y[1])
	return strings.HasPrefix(p, q) || strings.HasPrefix(q, p)
}

func kindOf(letters string) string {
	kind := strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(letters))
	if long := shortForms[kind]; long != "" {
		return long
	}
	return kind
}
