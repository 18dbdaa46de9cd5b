package identity

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/secure/bidirule"
	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"

	"ctl.internal/sdk/fault"
)

const maxField = 256

func invalidField(field, format string, args ...any) error {
	return fault.At(fault.Invalid, field, format, args...)
}

func checkText(field, value string) error {
	if utf8.RuneCountInString(value) > maxField {
		return invalidField(field, "at most %d characters are allowed", maxField)
	}
	if !utf8.ValidString(value) {
		return invalidField(field, "the text is not UTF-8")
	}
	return nil
}

// checkNew refuses a name that a new user, role or domain may not have.
func checkNew(field, value string) error {
	if err := checkName(field, value); err != nil {
		return err
	}
	normal, err := NormalName(field, value)
	if err == nil && normal != value {
		err = invalidField(field, "write the name as %q (RFC 8265)", normal)
	}
	return err
}

// checkName refuses what could not be distinguished in an id or addressed in a url.
func checkName(field, value string) error {
	if strings.TrimSpace(value) == "" {
		return fault.At(fault.Missing, field, "a name is required")
	}
	if err := checkText(field, value); err != nil {
		return err
	}
	if strings.ContainsAny(value, `@/\:`) || strings.ContainsFunc(value, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	}) {
		return invalidField(field, `the characters @ / \ : and control characters are not allowed`)
	}
	if strings.Trim(value, ".") == "" ||
		strings.HasPrefix(strings.TrimLeft(value, "."), ";") ||
		looksEncoded(value) {
		return invalidField(
			field,
			"the name cannot stand in a url: dots alone, a leading semicolon and percent encodings are not allowed",
		)
	}
	return nil
}

func looksEncoded(s string) bool {
	const hex = "0123456789abcdefABCDEF"
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '%' &&
			strings.IndexByte(hex, s[i+1]) >= 0 &&
			strings.IndexByte(hex, s[i+2]) >= 0 {
			return true
		}
	}
	return false
}

func checkEmail(value string) error {
	err := checkText("email", value)
	if err != nil || value == "" {
		return err
	}
	if a, err := mail.ParseAddress(value); err != nil || a.Address != value {
		return invalidField("email", "this is not an e-mail address")
	}
	return nil
}

func (s *Service) checkPassword(value string) error {
	if value == "" {
		return fault.At(fault.Missing, "password", "a password is required")
	}
	if err := checkText("password", value); err != nil {
		return err
	}
	if n := s.o.MinPassword; utf8.RuneCountInString(value) < n {
		return invalidField("password", "at least %d characters are required", n)
	}
	if s.o.Blocked.Has(value) {
		return invalidField(
			"password",
			"this password is in a list of those that attackers try first; choose another",
		)
	}
	if s.o.Common.Has(strings.ToLower(value)) {
		return invalidField(
			"password",
			"this is one of the 10,000 most common passwords, which attackers try first (aaa.passwordCommon); choose another",
		)
	}
	return nil
}

// usernames is UsernameCasePreserved but for its rule of directions, which RFC 8265 (3.4.1) wants for
// texts from right to left only.
var usernames = precis.NewIdentifier(precis.FoldWidth, precis.Norm(norm.NFC))

// NormalName is a name in the form in which it is kept and compared: UsernameCasePreserved of RFC 8265,
// parts between single blanks. The error says what looks the same as another name.
func NormalName(field, value string) (string, error) {
	if strings.TrimSpace(value) != value {
		return "", invalidField(field, "a name has no blanks at its ends")
	}
	parts := strings.Split(value, " ")
	for i, part := range parts {
		if part == "" {
			return "", invalidField(field, "a name has single blanks only")
		}
		normal, err := usernames.String(part)
		if err != nil ||
			bidirule.DirectionString(normal) == bidi.RightToLeft && !bidirule.ValidString(normal) {
			return "", invalidField(
				field,
				"the name holds characters that cannot be seen, that change the direction of the text, or that look like others (RFC 8265)",
			)
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
		if unicode.In(
			r,
			unicode.Cf,
			unicode.Mn,
			unicode.Variation_Selector,
		) { // directories ignore them
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, norm.NFKD.String(name))
	return strings.Join(strings.Fields(norm.NFKC.String(name)), " ")
}
