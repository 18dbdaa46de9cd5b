package server

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
)

// Headers of every answer; a handler of pages may replace them. Nobody appends to them.
var (
	noFrames    = []string{"DENY"}
	noReferrer  = []string{"no-referrer"}
	ownOrigin   = []string{"same-origin"}
	loadNothing = []string{"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"}
)

// crossOrigin refuses what a page of another origin makes a browser send with the credentials it
// keeps: unsafe methods (Sec-Fetch-Site, else Origin against Host), and bodies without a
// Content-Type, which a page can send unasked. Scripts send neither header and pass. trusted are
// origins of reverse proxies that change the Host, such as https://ctl.example.org.
func crossOrigin(next http.Handler, trusted []string) (http.Handler, error) {
	p := http.NewCrossOriginProtection()
	for _, o := range trusted {
		if err := p.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("aaa.trustedOrigins: %q is not an origin such as https://ctl.example.org", o)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["X-Frame-Options"], h["Referrer-Policy"] = noFrames, noReferrer
		h["Cross-Origin-Resource-Policy"], h["Content-Security-Policy"] = ownOrigin, loadNothing
		if err := p.Check(r); err != nil {
			refuse(w, r, http.StatusForbidden, "access-denied",
				"a page of another origin may not change anything here; a reverse proxy's origin is named in aaa.trustedOrigins of etc/ctl.yaml")
			return
		}
		if r.Body != nil && r.Body != http.NoBody && r.Header.Get("Content-Type") == "" {
			var bytes bool
			if bytes, r = hasBytes(r); bytes {
				refuse(w, r, http.StatusUnsupportedMediaType, "invalid-value", "a body needs a Content-Type, such as application/json")
				return
			}
		}
		next.ServeHTTP(w, r)
	}), nil
}

// hasBytes reports whether a request has a body that is not empty. Of a length that was not sent
// it waits for the first byte or the end, and returns the request that still has the byte.
func hasBytes(r *http.Request) (bool, *http.Request) {
	if r.ContentLength >= 0 {
		return r.ContentLength > 0, r
	}
	ahead := bufio.NewReaderSize(r.Body, 16)
	_, err := ahead.Peek(1)
	if err == nil {
		return true, r
	}
	inner := *r
	inner.Body = struct {
		io.Reader
		io.Closer
	}{ahead, r.Body}
	return false, &inner
}
