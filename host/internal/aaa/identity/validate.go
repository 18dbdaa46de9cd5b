package identity

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctl.internal/sdk/fault"
)

const maxField = 256

func invalid(field, format string, args ...any) error {
	return fault.At(fault.Invalid, field, format, args...)
}

func checkText(field, value string) error {
	if utf8.RuneCountInString(value) > maxField {
		return invalid(field, "at most %d characters are allowed", maxField)
	}
	if !utf8.ValidString(value) {
		return invalid(field, "the text is not UTF-8")
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
		err = invalid(field, "write the name as %q (RFC 8265)", normal)
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
		return invalid(field, `the characters @ / \ : and control characters are not allowed`)
	}
	if strings.Trim(value, ".") == "" || strings.HasPrefix(strings.TrimLeft(value, "."), ";") || looksEncoded(value) {
		return invalid(field, "the name cannot stand in a url: dots alone, a leading semicolon and percent encodings are not allowed")
	}
	return nil
}

func looksEncoded(s string) bool {
	const hex = "0123456789abcdefABCDEF"
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '%' && strings.IndexByte(hex, s[i+1]) >= 0 && strings.IndexByte(hex, s[i+2]) >= 0 {
			return true
		}
	}
	return false
}

func checkEmail(value string) error {
	if err := checkText("email", value); err != nil || value == "" {
		return err
	}
	if a, err := mail.ParseAddress(value); err != nil || a.Address != value {
		return invalid("email", "this is not an e-mail address")
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
		return invalid("password", "at least %d characters are required", n)
	}
	if s.o.Blocked.Has(value) {
		return invalid("password", "this password is in a list of those that attackers try first; choose another")
	}
	return nil
}
