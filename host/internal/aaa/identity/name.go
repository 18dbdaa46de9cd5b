package identity

import (
	"strings"
	"unicode"

	"golang.org/x/text/secure/bidirule"
	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// usernames is UsernameCasePreserved but for its rule of directions, which RFC 8265 (3.4.1) wants for
// texts from right to left only.
var usernames = precis.NewIdentifier(precis.FoldWidth, precis.Norm(norm.NFC))

// NormalName is a name in the form in which it is kept and compared: UsernameCasePreserved of RFC 8265,
// parts between single blanks. The error says what looks the same as another name.
func NormalName(field, value string) (string, error) {
	if strings.TrimSpace(value) != value {
		return "", invalid(field, "a name has no blanks at its ends")
	}
	parts := strings.Split(value, " ")
	for i, part := range parts {
		if part == "" {
			return "", invalid(field, "a name has single blanks only")
		}
		normal, err := usernames.String(part)
		if err != nil || bidirule.DirectionString(normal) == bidi.RightToLeft && !bidirule.ValidString(normal) {
			return "", invalid(field, "the name holds characters that cannot be seen, that change the direction of the text, or that look like others (RFC 8265)")
		}
		parts[i] = normal
	}
	return strings.Join(parts, " "), nil
}

// Typed is a name as somebody typed it to log in, normalised where it can be.
func Typed(name string) string {
	for i := 0; i < len(name); i++ {
		if name[i] >= 0x80 {
			if n, err := NormalName("name", name); err == nil {
				return n
			}
			return name
		}
	}
	return name // ASCII is normal
}

// Folded is what all spellings have in common under which any realm's server finds one account: case,
// blanks at the ends and repeated ones, forms of the same characters. Guesses are counted by it.
func Folded(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Mn, unicode.Variation_Selector) { // directories ignore them
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, norm.NFKD.String(name))
	return strings.Join(strings.Fields(norm.NFKC.String(name)), " ")
}
