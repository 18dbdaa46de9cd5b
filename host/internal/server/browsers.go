package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/web"
)

// browsers keeps pages of other origins from using what a browser holds for this controller: it compares where a
// request comes from, and by which name it asks.
type browsers struct {
	origins *http.CrossOriginProtection
	trusted []string
	proxies []netip.Prefix // whose requests came to them over TLS
	names   []string       // by which browsers may ask; "*.x" for all below x
	covers  func(host string) bool
	log     *slog.Logger

	unknown atomic.Uint64 // requests for names that are none of ours
	mu      sync.Mutex
	seen    []string // of these the first maxSeen
}

// maxSeen bounds the unknown names that are proposed to the operator.
const maxSeen = 16

// newBrowsers reads the settings; covers reports whether a certificate of this controller is for a name.
func newBrowsers(
	c home.Config,
	covers func(host string) bool,
	log *slog.Logger,
) (*browsers, error) {
	b := &browsers{
		origins: http.NewCrossOriginProtection(),
		trusted: c.AAA.TrustedOrigins,
		covers:  covers,
		log:     log,
		names:   ownHosts(c),
	}
	for _, o := range c.AAA.TrustedOrigins {
		if err := b.origins.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf(
				"aaa.trustedOrigins: %q is not an origin such as https://ctl.example.org",
				o,
			)
		}
	}
	for _, text := range c.Listeners.Proxies {
		p, err := home.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("listeners.proxies: %w", err)
		}
		b.proxies = append(b.proxies, p)
	}
	return b, nil
}

// ownHosts are the names by which a browser may ask for this controller, besides addresses, localhost and those of its
// certificate.
func ownHosts(c home.Config) []string {
	names := slices.Clone(c.Listeners.Names)
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	for _, address := range []string{string(c.Listeners.HTTP), string(c.Listeners.HTTPS), string(c.Listeners.RESTCONF), c.Cluster.Advertise} {
		names = append(names, hostOf(address))
	}
	for _, o := range c.AAA.TrustedOrigins {
		if u, err := url.Parse(o); err == nil {
			names = append(names, u.Hostname())
		}
	}
	for i, n := range names {
		names[i] = strings.ToLower(strings.TrimSuffix(n, "."))
	}
	return names
}

// hostOf is the name or address of HOST, HOST:PORT or [HOST]:PORT, in lower case.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(address, "[]"), "."))
}

// isKnownHost reports whether a Host header names this controller.
func (b *browsers) isKnownHost(host string) bool {
	name := hostOf(host)
	_, err := netip.ParseAddr(name)
	if err == nil || name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true // a page of another name cannot make a browser send these
	}
	for _, n := range b.names {
		if n == name && n != "" {
			return true
		}
		below, ok := strings.CutPrefix(n, "*")
		if ok && strings.HasPrefix(below, ".") && strings.HasSuffix(name, below) {
			return true
		}
	}
	return b.covers != nil && b.covers(name)
}

// fromBrowser reports whether a request bears what only browsers send, or asks for a page.
func fromBrowser(r *http.Request) bool {
	if r.Header.Get("Origin") != "" ||
		r.Header.Get("Sec-Fetch-Site") != "" ||
		r.Header.Get("Sec-Fetch-Mode") != "" ||
		r.Header.Get("Sec-Fetch-Dest") != "" {
		return true
	}
	for _, c := range r.Cookies() {
		if strings.HasPrefix(c.Name, "ctl-") || strings.HasPrefix(c.Name, "__Host-ctl-") {
			return true
		}
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return r.URL.Path == "/" ||
		first == "login" ||
		"/"+first == docsPath ||
		slices.Contains(web.Paths[:], "/"+first)
}

// noteUnknownHost counts a request for a name that is not ours, and logs it once for each of the first names.
func (b *browsers) noteUnknownHost(host string) {
	b.unknown.Add(1)
	name := hostOf(host)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.seen) >= maxSeen || len(name) > 253 || slices.Contains(b.seen, name) {
		return
	}
	b.seen = append(b.seen, name)
	b.log.Warn(
		"a request asked for a name that is not known to be this controller's; if it is, add it to listeners.names of etc/ctl.yaml",
		"name",
		name,
	)
}

// proxied reports whether a request was passed on by a proxy of the settings.
func (b *browsers) proxied(r *http.Request) bool {
	if len(b.proxies) == 0 {
		return false
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	address := peer.Addr().Unmap().WithZone("")
	return slices.ContainsFunc(b.proxies, func(p netip.Prefix) bool {
		return p.Contains(address)
	})
}

// asSent returns a request with the way on which its client sent it: a proxy that ends TLS has passed it on without.
func (b *browsers) asSent(r *http.Request) *http.Request {
	if r.TLS != nil || !b.proxied(r) {
		return r
	}
	proto := r.Header.Get("X-Forwarded-Proto")
	if proto != "" && !strings.EqualFold(proto, "https") {
		return r.WithContext(authn.FromElsewhere(r.Context()))
	}
	r = r.WithContext(aaa.OverTLS(authn.FromElsewhere(r.Context())))
	r.TLS = &tls.ConnectionState{}
	return r
}

// sameScheme reports whether an Origin, which names this host, was reached by the way that this request came. A browser
// that sends Sec-Fetch-Site has compared it.
func (b *browsers) sameScheme(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" || r.Header.Get("Sec-Fetch-Site") != "" || slices.Contains(b.trusted, origin) {
		return true
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return strings.HasPrefix(strings.ToLower(origin), scheme+"://")
}

// checkOrigin refuses what a page of another origin makes a browser send with the credentials it
// keeps: unsafe methods (Sec-Fetch-Site, else Origin against scheme and Host), requests for a name that another site
// leads to this address, and bodies without a Content-Type, which a page can send unasked. Scripts send none of these
// headers and pass.
func (b *browsers) checkOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["X-Frame-Options"], h["Referrer-Policy"] = noFrames, noReferrer
		h["Cross-Origin-Resource-Policy"], h["Content-Security-Policy"] = ownOrigin, loadNothing
		if !b.isKnownHost(r.Host) {
			b.noteUnknownHost(r.Host)
			if fromBrowser(r) {
				refusePage(w, r, http.StatusMisdirectedRequest, "access-denied",
					"this controller is not known by the name in the address; use its address, or have the name added to listeners.names of etc/ctl.yaml")
				return
			}
		}
		r = b.asSent(r)
		err := b.origins.Check(r)
		if err != nil || !b.sameScheme(r) {
			refuseRequest(w, r, http.StatusForbidden, "access-denied",
				"a page of another origin may not change anything here; a reverse proxy's origin is named in aaa.trustedOrigins of etc/ctl.yaml, its address, if it ends TLS, in listeners.proxies")
			return
		}
		if r.Body != nil && r.Body != http.NoBody && r.Header.Get("Content-Type") == "" {
			var bytes bool
			if bytes, r = hasBytes(r); bytes {
				refuseRequest(
					w,
					r,
					http.StatusUnsupportedMediaType,
					"invalid-value",
					"a body needs a Content-Type, such as application/json",
				)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// unknownNames are the first names that requests asked for and that are not known to be this controller's.
func (b *browsers) unknownNames() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(slices.Values(b.seen))
}

// refusePage answers a person with a page, and anything else as refuse does.
func refusePage(w http.ResponseWriter, r *http.Request, status int, tag, text string) {
	if r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		web.Refusal(w, r, status, text)
		return
	}
	refuseRequest(w, r, status, tag, text)
}
