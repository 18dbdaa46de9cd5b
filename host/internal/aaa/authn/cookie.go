package authn

import (
	"net"
	"net/http"
	"strconv"
)

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

// Cookie is the token of the session that a request was sent with, empty when there is none. A request that sends
// the cookie twice is without: it could be read in two ways.
func Cookie(r *http.Request) string {
	if sent := r.CookiesNamed(CookieName(r)); len(sent) == 1 && len(sent[0].Value) <= maxCredentials {
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
