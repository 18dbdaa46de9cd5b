package server

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gorilla/mux"

	"ctl.internal/host/internal/aaa/reqpath"
)

// FuzzFilterAndMuxAgree looks for a request target of which access control and the
// mux of the controller take another view: the route that serves it must be one
// whose path the filter sees at its beginning, and where the filter sees such a
// path a route must serve it.
func FuzzFilterAndMuxAgree(f *testing.F) {
	s, paths, _ := routed(f)
	serving := s.router.now.Load()
	for _, p := range paths {
		f.Add(p)
		f.Add(strings.TrimSuffix(p, "/") + "/x%2Fy;z=1")
		f.Add("/%2e" + p)
		f.Add(strings.Replace(p, "/", "/%", 1))
		f.Add(strings.Replace(p, "e", "%65", 1) + "/a,b%2Cc")
		f.Add("http://h" + p + "?/../x")
	}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.URL, r.RequestURI = u, target
		p, err := reqpath.Parse(r)
		if err != nil {
			return
		}
		p.Rewrite(r.URL)
		var seen []string
		for _, sg := range p.Segments() {
			seen = append(seen, sg.Decoded)
		}
		sees := func(path string) bool { // the filter sees path, or path and what is below it
			want := strings.Split(strings.Trim(path, "/"), "/")
			if path == "/" {
				return len(seen) == 0
			}
			return len(seen) >= len(want) && strings.Join(seen[:len(want)], "\x00") == strings.Join(want, "\x00")
		}
		var m mux.RouteMatch
		if !serving.mux.Match(r, &m) || m.Route == nil {
			for _, path := range paths {
				if sees(path) {
					t.Fatalf("%q: the filter sees %q, no route serves it", target, path)
				}
			}
			return
		}
		path := m.Route.GetName()
		if !sees(path) {
			t.Fatalf("%q: the route %q serves it, the filter sees %q", target, path, seen)
		}
	})
}
