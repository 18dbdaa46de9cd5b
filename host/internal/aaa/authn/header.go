package authn

import (
	"encoding/base64"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxCredentials bounds what is decoded and hashed of a header.
const maxCredentials = 8 << 10

// header returns scheme (lower case) and text of the Authorization header. Two
// such headers could be read in two ways, so they are as bad as a wrong one.
func header(h http.Header) (scheme, text string, present bool) {
	v := h["Authorization"]
	if len(v) == 0 {
		return "", "", false
	}
	if len(v) > 1 || len(v[0]) > maxCredentials {
		return "", "", true
	}
	scheme, text, _ = strings.Cut(v[0], " ")
	switch {
	case strings.EqualFold(scheme, "basic"):
		scheme = "basic"
	case strings.EqualFold(scheme, "bearer"):
		scheme = "bearer"
	}
	return scheme, strings.TrimLeft(text, " "), true
}

// basicPair decodes user and password, cut at the first colon: the password may
// hold others.
func basicPair(text string) (user, password string, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !utf8.Valid(raw) {
		return "", "", false
	}
	user, password, ok = strings.Cut(string(raw), ":")
	return user, password, ok
}

// splitUser cuts `name` or `name@domain`; domain is empty when none was given.
func splitUser(user string) (name, domain string, ok bool) {
	if !utf8.ValidString(user) || strings.ContainsFunc(user, unicode.IsControl) || len(user) > 1024 {
		return "", "", false
	}
	name, domain, given := strings.Cut(user, "@")
	return name, domain, name != "" && (!given || domain != "")
}
