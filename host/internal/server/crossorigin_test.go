package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A page of another origin changes nothing, with whatever credentials the browser keeps; scripts, the
// controller's own pages and origins that are trusted do.
func TestRequestsOfForeignPagesAreRefused(t *testing.T) {
	s, paths, reached := routed(t)
	front, err := crossOrigin(s.aaa.Filter(s.router), []string{"https://proxy.example.org"})
	if err != nil {
		t.Fatal(err)
	}
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
	front, err := crossOrigin(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body = "got " + string(b)
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := crossOrigin(http.NotFoundHandler(), []string{"https://h/path"}); err == nil {
		t.Error("an origin with a path is taken")
	}
}
