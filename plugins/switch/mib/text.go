package mib

import (
	"strings"
	"unicode/utf8"
)

// Text returns octets of a device as text for people and for comparison: NULs and
// blanks at the ends are gone, other control characters become blanks, and bytes
// that are no UTF-8 are read as Latin-1.
func Text(b []byte) string {
	s := string(b)
	if !utf8.ValidString(s) {
		r := make([]rune, len(b))
		for i, c := range b {
			r[i] = rune(c)
		}
		s = string(r)
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return ' '
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}
