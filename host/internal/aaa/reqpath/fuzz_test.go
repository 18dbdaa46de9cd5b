package reqpath_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gorilla/mux"

	"ctl.internal/host/internal/aaa/reqpath"
)

func mustURL(t testing.TB, raw string) *url.URL {
	u, err := url.ParseRequestURI(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// FuzzRouterAgrees looks for a request target that the filter accepts and the
// router then reads as other segments than the filter did.
func FuzzRouterAgrees(f *testing.F) {
	for _, s := range []string{
		"/", "/a", "/a/", "/a%2Fb/c", "/a//b", "/a/./b", "/a/%2e%2e/b", "/l=a,b%2Cc;d", "/%6d", "/x;y/z",
		"http://h/a", "http://h", "/a%252fb", "/a/\"b\"%2Fc", "/\xff", "/a?x=/b", "/%41%C3%BC", "/a b", "//h/a", "/50%25",
	} {
		f.Add(s)
	}
	var seen []string
	router := mux.NewRouter().UseEncodedPath()
	for _, pattern := range []string{"/", "/{a}", "/{a}/{b}", "/{a}/{b}/{c}", "/{a}/{b}/{c}/{d}"} {
		router.HandleFunc(pattern, func(_ http.ResponseWriter, r *http.Request) {
			vars := mux.Vars(r)
			for _, k := range "abcd" {
				if v, ok := vars[string(k)]; ok {
					seen = append(seen, v)
				}
			}
		})
	}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL, r.RequestURI = u, target
		p, err := reqpath.Parse(r)
		if err != nil || len(p.Segments()) > 4 {
			return
		}
		again, err := reqpath.ParseString(p.Canonical())
		if err != nil || again.Canonical() != p.Canonical() || again.Decoded() != p.Decoded() {
			t.Fatalf("%q: the canonical path %q is read as %q, %v", target, p.Canonical(), again.Canonical(), err)
		}
		p.Rewrite(r.URL)
		seen = nil
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("%q: the router answers %d for %q", target, w.Code, p.Canonical())
		}
		var want []string
		for _, s := range p.Segments() {
			want = append(want, s.Raw)
		}
		if strings.Join(seen, "\x00") != strings.Join(want, "\x00") {
			t.Fatalf("%q: the filter saw %q, the router %q", target, want, seen)
		}
	})
}
