package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	ctl "ctl.internal"
	"ctl.internal/host/internal/home"
)

func forBrowsers(t *testing.T, next http.Handler, c home.Config) http.Handler {
	t.Helper()
	b, err := newBrowsers(c, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return b.checkOrigin(next)
}

// A page of another origin changes nothing, with whatever credentials the browser keeps; scripts, the
// controller's own pages and origins that are trusted do.
func TestRequestsOfForeignPagesAreRefused(t *testing.T) {
	s, paths, reached := routed(t)
	front := forBrowsers(t, s.aaa.Filter(s.router), home.Config{AAA: home.AAA{TrustedOrigins: []string{"https://proxy.example.org"}}, Listeners: home.Listeners{Names: []string{"ctl"}}})
	for _, c := range []struct {
		name   string
		method string
		header map[string]string
		want   bool
	}{
		{"script", "POST", nil, true},
		{"own page", "POST", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://ctl:8181"}, true},
		{"own page of an old browser", "POST", map[string]string{"Origin": "http://ctl:8181"}, true},
		{"typed by the user", "POST", map[string]string{"Sec-Fetch-Site": "none"}, true},
		{"trusted proxy", "POST", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://proxy.example.org"}, true},
		{"other site", "POST", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"}, false},
		{"other port", "POST", map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "http://ctl:9000"}, false},
		{"other port of an old browser", "PUT", map[string]string{"Origin": "http://ctl:9000"}, false},
		{"sandboxed frame", "DELETE", map[string]string{"Origin": "null"}, false},
		{"PATCH of another site", "PATCH", map[string]string{"Sec-Fetch-Site": "cross-site"}, false},
		{"the same host by another scheme", "POST", map[string]string{"Origin": "https://ctl:8181"}, false},
		{"a link on another site", "GET", map[string]string{"Sec-Fetch-Site": "cross-site"}, true},
	} {
		for _, p := range append(paths, "/auth/v1/users", "/restconf/operations/switch-db:clear-db", "/repoinfo/x") {
			r := httptest.NewRequest(c.method, "http://ctl:8181"+p, nil)
			r.SetBasicAuth("admin", "admin")
			for k, v := range c.header {
				r.Header.Set(k, v)
			}
			*reached = ""
			w := httptest.NewRecorder()
			front.ServeHTTP(w, r)
			if passed := *reached != ""; passed != c.want || !passed && w.Code != http.StatusForbidden {
				t.Errorf("%s: %s %s: reached %v, status %d", c.name, c.method, p, passed, w.Code)
			}
			for _, h := range []string{"X-Frame-Options", "Referrer-Policy", "Content-Security-Policy", "Cross-Origin-Resource-Policy"} {
				if w.Header().Get(h) == "" {
					t.Fatalf("%s: no %s", p, h)
				}
			}
		}
	}
}

// A fetch of a Blob sends bytes without a Content-Type without a preflight request.
func TestBytesNeedAContentType(t *testing.T) {
	var body string
	front := forBrowsers(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body = "got " + string(b)
	}), home.Config{Listeners: home.Listeners{Names: []string{"example.com"}}})
	unknown := func(s string) io.Reader { return struct{ io.Reader }{strings.NewReader(s)} } // no length is sent
	for _, c := range []struct {
		name, kind, want string
		body             io.Reader
	}{
		{"bytes without a type", "", "", strings.NewReader("{}")},
		{"bytes of unknown length without a type", "", "", unknown("{}")},
		{"no bytes", "", "got ", nil},
		{"no bytes of unknown length", "", "got ", unknown("")},
		{"bytes with a type", "application/json", "got {}", strings.NewReader("{}")},
		{"bytes of unknown length with a type", "application/json", "got {}", unknown("{}")},
	} {
		r := httptest.NewRequest("PUT", "/restconf/config/aaa:http-authorization/policies", c.body)
		if c.kind != "" {
			r.Header.Set("Content-Type", c.kind)
		}
		body = ""
		w := httptest.NewRecorder()
		front.ServeHTTP(w, r)
		if body != c.want || body == "" && w.Code != http.StatusUnsupportedMediaType {
			t.Errorf("%s: %q, status %d", c.name, body, w.Code)
		}
	}
}

func TestAnOriginThatIsNoneIsRefused(t *testing.T) {
	if _, err := newBrowsers(home.Config{AAA: home.AAA{TrustedOrigins: []string{"https://h/path"}}}, nil, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("an origin with a path is taken")
	}
}

// A name that another site leads to this address (DNS rebinding) opens no page, and no request of a browser is served for it.
func TestRequestsForForeignNamesAreRefused(t *testing.T) {
	c := home.Config{Listeners: home.Listeners{Names: []string{"ctl.lab", "*.below.lab"}, HTTP: "web.lab:8181"}}
	b, err := newBrowsers(c, func(host string) bool { return host == "certified.lab" }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	front := b.checkOrigin(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	ask := func(host, path string, header ...string) int {
		r := httptest.NewRequest("GET", "http://x"+path, nil)
		r.Host = host
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		front.ServeHTTP(w, r)
		return w.Code
	}
	for _, host := range []string{"127.0.0.1:8181", "[::1]:8181", "10.1.2.3", "localhost:8181", "x.localhost", "CTL.lab:1", "ctl.lab.", "a.below.lab", "web.lab", "certified.lab", ""} {
		if got := ask(host, "/", "Sec-Fetch-Site", "none"); got != http.StatusNoContent {
			t.Errorf("%s: %d", host, got)
		}
	}
	if n := b.unknown.Load(); n != 0 {
		t.Errorf("%d requests counted for names of our own", n)
	}
	for _, host := range []string{"evil.example", "evil.example:8181", "ctl.lab.evil.example", "below.lab", "notctl.lab", "127.0.0.1.evil.example", "localhost.evil.example"} {
		for _, c := range [][]string{{"/"}, {"/login"}, {"/web/static/app.js"}, {"/apidoc"}, {"/docs/"}, {"/restconf/modules", "Origin", "http://" + host},
			{"/restconf/modules", "Sec-Fetch-Mode", "cors"}, {"/restconf/modules", "Cookie", "ctl-8181=x"}, {"/restconf/modules", "Cookie", "a=b; __Host-ctl-8443=x"}} {
			if got := ask(host, c[0], c[1:]...); got != http.StatusMisdirectedRequest {
				t.Errorf("%s %v: %d", host, c, got)
			}
		}
		if got := ask(host, "/restconf/modules"); got != http.StatusNoContent {
			t.Errorf("a script that asks %s: %d", host, got)
		}
	}
	if n := b.unknown.Load(); n != 70 {
		t.Errorf("%d requests counted", n)
	}
	names := "127.0.0.1.evil.example below.lab ctl.lab.evil.example evil.example localhost.evil.example notctl.lab"
	if got := strings.Join(b.unknownNames(), " "); got != names {
		t.Errorf("proposed are %s", got)
	}
}

// Behind a proxy that ends TLS the pages are of https, and the proxy is named.
func TestTheSchemeOfAnOriginIsCompared(t *testing.T) {
	reached := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	front := forBrowsers(t, reached, home.Config{Listeners: home.Listeners{Names: []string{"ctl.lab"}, Proxies: []string{"10.0.0.0/8", "::1"}}})
	for _, c := range []struct {
		url, from, origin, proto string
		want                     int
	}{
		{"http://ctl.lab/x", "192.0.2.1:1", "http://ctl.lab", "", http.StatusNoContent},
		{"http://ctl.lab/x", "192.0.2.1:1", "https://ctl.lab", "", http.StatusForbidden},
		{"http://ctl.lab/x", "192.0.2.1:1", "https://ctl.lab", "https", http.StatusForbidden},
		{"https://ctl.lab/x", "192.0.2.1:1", "https://ctl.lab", "", http.StatusNoContent},
		{"https://ctl.lab/x", "192.0.2.1:1", "http://ctl.lab", "", http.StatusForbidden},
		{"http://ctl.lab/x", "10.1.1.1:1", "https://ctl.lab", "", http.StatusNoContent},
		{"http://ctl.lab/x", "[::ffff:10.1.1.1]:1", "https://ctl.lab", "https", http.StatusNoContent},
		{"http://ctl.lab/x", "[::1]:1", "https://ctl.lab", "http", http.StatusForbidden},
		{"http://ctl.lab/x", "10.1.1.1:1", "http://ctl.lab", "", http.StatusForbidden},
	} {
		r := httptest.NewRequest("POST", c.url, nil)
		r.RemoteAddr = c.from
		r.Header.Set("Origin", c.origin)
		if c.proto != "" {
			r.Header.Set("X-Forwarded-Proto", c.proto)
		}
		w := httptest.NewRecorder()
		front.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%+v: %d", c, w.Code)
		}
	}
}

// What a proxy of the settings passes on was sent by its client, over TLS or not: cookies, and logins that need HTTPS, are as the
// client sent it.
func TestAProxyThatEndsTLSIsHonoured(t *testing.T) {
	ini, err := ctl.Templates.ReadFile("etc/sec.ini")
	if err != nil {
		t.Fatal(err)
	}
	c := chain(t, string(ini))
	front := forBrowsers(t, c.Server.aaa.Filter(c.Server.router), home.Config{Listeners: home.Listeners{Proxies: []string{"10.0.0.1", "127.0.0.1"}}})
	for _, one := range []struct {
		from, proto string
		status      int
		cookie      string
	}{
		{"10.0.0.1:1", "https", http.StatusNoContent, "__Host-ctl"},
		{"10.0.0.1:1", "", http.StatusNoContent, "__Host-ctl"},
		{"127.0.0.1:1", "https", http.StatusNoContent, "__Host-ctl"},
		{"10.0.0.1:1", "http", http.StatusForbidden, ""},
		{"127.0.0.1:1", "http", http.StatusForbidden, ""}, // the proxy is on this machine, its client is not
		{"[::1]:1", "", http.StatusNoContent, "ctl"},
		{"192.0.2.1:1", "https", http.StatusForbidden, ""},
	} {
		r := httptest.NewRequest("POST", "http://127.0.0.1/web/login", strings.NewReader(`{"user": "user", "password": "user"}`))
		r.RemoteAddr = one.from
		r.Header.Set("Content-Type", "application/json")
		if one.proto != "" {
			r.Header.Set("X-Forwarded-Proto", one.proto)
		}
		w := httptest.NewRecorder()
		front.ServeHTTP(w, r)
		name, secure := "", false
		for _, cookie := range w.Result().Cookies() {
			name, secure = cookie.Name, cookie.Secure
		}
		if w.Code != one.status || name != one.cookie || secure != strings.HasPrefix(name, "__Host-") {
			t.Errorf("from %s by %q: %d, cookie %q, secure %v; %s", one.from, one.proto, w.Code, name, secure, w.Body)
		}
	}
}
