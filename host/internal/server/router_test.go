package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/mux"

	ctl "ctl.internal"
	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/datastore/storetest"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/test/aaatest"
)

// guarded is the mux with every route of the host and of a plugin, behind access
// control as shipped; each handler reports that it was reached.
func guarded(t testing.TB) (front http.Handler, paths []string, reached *string) {
	t.Helper()
	s, paths, reached := routed(t)
	return s.aaa.Filter(s.router), paths, reached
}

func routed(t testing.TB) (s *Server, paths []string, reached *string) {
	t.Helper()
	ini, err := ctl.Templates.ReadFile("etc/sec.ini")
	if err != nil {
		t.Fatal(err)
	}
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { store.Close() })
	s = &Server{}
	s.aaa, err = aaa.New(context.Background(), aaa.Options{Store: store, SecINI: ini, First: identity.First{Admin: "admin", User: "user"}})
	if err != nil {
		t.Fatal(err)
	}
	reached = new(string)
	reach := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { *reached = r.URL.Path })
	s.router = newRouter(s.hostRoutes, func(string) http.Handler { return reach })
	s.router.updateRoutes([]*pluginv1.Manifest{{Name: "repoinfo", Routes: []*pluginv1.Route{{Path: "/repoinfo"}}}})
	seen := map[string]bool{}
	now := s.router.now.Load()
	err = now.mux.Walk(func(route *mux.Route, _ *mux.Router, _ []*mux.Route) error {
		route.Handler(reach)
		p := route.GetName()
		if !strings.HasPrefix(p, "/") {
			return fmt.Errorf("a route has the name %q, want its path", p)
		}
		if !seen[p] {
			seen[p] = true
			paths = append(paths, p)
		}
		return nil
	})
	if err != nil || len(paths) < 12 {
		t.Fatalf("%d routes: %v", len(paths), err)
	}
	return s, paths, reached
}

// public is a path that anybody may read (RFC 8414), the login page, and what of the pages' sessions finds out who asks by itself.
func public(path string) bool {
	return slices.Contains([]string{"/.well-known/host-meta", "/.well-known/host-meta.json", "/.well-known/oauth-authorization-server", "/login", "/web/login", "/web/logout", "/web/me", "/web/sessions", "/web/keys"}, path)
}

// No handler of any registered route is reached without credentials.
func TestEveryRouteIsBehindAccessControl(t *testing.T) {
	front, paths, reached := guarded(t)
	for _, p := range slices.DeleteFunc(paths, public) {
		for _, path := range []string{p, strings.TrimSuffix(p, "/") + "/x"} {
			*reached = ""
			w := httptest.NewRecorder()
			front.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			if w.Code != http.StatusUnauthorized || *reached != "" {
				t.Errorf("GET %s without credentials: %d, handler reached: %q", path, w.Code, *reached)
			}
		}
	}
}

// However a registered path is spelled, no handler is reached without credentials.
func TestNoSpellingReachesAHandler(t *testing.T) {
	front, paths, reached := guarded(t)
	for _, p := range append(slices.DeleteFunc(paths, public), "/auth/v1/users") {
		for _, payload := range aaatest.Payloads() {
			target := strings.Replace(payload.Target, "admin", strings.Trim(p, "/"), 1)
			r, err := http.NewRequest(http.MethodGet, "http://h/", nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.URL, err = r.URL.Parse("http://h" + target); err != nil {
				continue // no HTTP server would pass it on either
			}
			r.RequestURI, r.RemoteAddr = target, "127.0.0.1:1"
			*reached = ""
			w := httptest.NewRecorder()
			front.ServeHTTP(w, r)
			if *reached != "" {
				t.Errorf("%q reached the handler of %q without credentials", target, *reached)
			}
		}
	}
}

// A path below the route of a plugin that is installed and has not served yet is 503 with the reason, never 404: for
// programs and for browsers.
func TestRouteOfAPluginThatDoesNotRun(t *testing.T) {
	s, _, _ := routed(t)
	down := &pluginv1.Manifest{Name: "down", Routes: []*pluginv1.Route{{Path: "/down"}, {Path: "/reports/down"}}}
	s.router.absent = func(path string) error {
		if !serves(down, path) {
			return nil
		}
		return fault.New(fault.Unavailable, "this is served by plugin down, which does not run: it is failed: no file")
	}
	for _, c := range []struct {
		path string
		code int
	}{
		{"/down", 503}, {"/down/", 503}, {"/down/a%20b?x=1", 503}, {"/reports/down/x", 503},
		{"/downs", 404}, {"/reports", 404}, {"/other/down", 404},
	} {
		for mode, kind := range map[string]string{"": "json", "navigate": "text/html"} {
			r := httptest.NewRequest(http.MethodGet, c.path, nil)
			if mode != "" {
				r.Header.Set("Sec-Fetch-Mode", mode)
			}
			w := httptest.NewRecorder()
			s.router.ServeHTTP(w, r)
			if w.Code != c.code || !strings.Contains(w.Header().Get("Content-Type"), kind) {
				t.Errorf("%s %q: %d %s %s", c.path, mode, w.Code, w.Header().Get("Content-Type"), w.Body)
			}
			if c.code == 503 && (w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "it is failed: no file")) {
				t.Errorf("%s %q: %v %s", c.path, mode, w.Header(), w.Body)
			}
		}
	}
}
