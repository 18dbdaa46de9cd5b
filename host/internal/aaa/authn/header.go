package authn

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctl.internal/host/internal/aaa/rules"
)

// maxCredentials bounds what is decoded and hashed of a header.
const maxCredentials = 8 << 10

// parseAuthorizationHeader returns scheme (lower case) and text of the Authorization header. Two
// such headers could be read in two ways, so they are as bad as a wrong one.
func parseAuthorizationHeader(h http.Header) (scheme, text string, present bool) {
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
	if !utf8.ValidString(user) ||
		strings.ContainsFunc(user, unicode.IsControl) ||
		len(user) > 1024 {
		return "", "", false
	}
	name, domain, given := strings.Cut(user, "@")
	return name, domain, name != "" && (!given || domain != "")
}

type elsewhereKey struct{}

// FromElsewhere marks the requests that a proxy has passed on: their address is not that of the client.
func FromElsewhere(ctx context.Context) context.Context {
	return context.WithValue(ctx, elsewhereKey{}, true)
}

// OnThisMachine reports whether a request was sent from this machine, as far as its address says so.
func OnThisMachine(r *http.Request) bool {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	return from.Addr().Unmap().IsLoopback() && r.Context().Value(elsewhereKey{}) == nil
}

// CookieName is the name of the cookie with the session on the listener that a request came to. The port is in
// it because browsers give all ports of a host the same cookies; the prefix makes them refuse the cookie from
// anywhere but the host itself, over TLS.
func CookieName(r *http.Request) string {
	name := "ctl"
	if r.TLS != nil {
		name = "__Host-ctl"
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		name += "-" + strconv.Itoa(local.Port)
	}
	return name
}

// Cookie is the token of the session that a request was sent with, empty if it has no cookie. A request that sends
// the cookie twice is without: it could be read in two ways.
func Cookie(r *http.Request) string {
	sent := r.CookiesNamed(CookieName(r))
	if len(sent) == 1 && len(sent[0].Value) <= maxCredentials {
		return sent[0].Value
	}
	return ""
}

// ProvesOrigin reports whether a request that was sent with a cookie may change something: it only reads, or its
// browser says where it comes from, which was compared before access control.
func ProvesOrigin(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	return r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get("Origin") != ""
}

// ErrNoOrigin says that a request with a cookie changes something and does not say where it comes from.
var ErrNoOrigin = errors.New("a change with the cookie of a session needs the header Origin, which browsers send")

// Sender verifies who sends a request: by its Authorization header, else, where Basic credentials may be sent, by the
// session of its cookie, which is returned when that was asked. The error is as Request's, or ErrNoOrigin.
func (a *Authenticator) Sender(
	ctx context.Context,
	r *http.Request,
	from netip.AddrPort,
	schemes rules.Schemes,
) (l *Login, present bool, session string, err error) {
	l, present, err = a.Request(ctx, r.Header, from, schemes)
	if present || schemes&rules.Basic == 0 {
		return l, present, "", err
	}
	switch session = Cookie(r); {
	case session == "":
		return l, false, "", err
	case !ProvesOrigin(r):
		return nil, true, session, ErrNoOrigin
	}
	l, err = a.loginTokenHolder(ctx, session, true, from)
	return l, err == nil, session, err
}
