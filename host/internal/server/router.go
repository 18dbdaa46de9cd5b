package server

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gorilla/mux"

	"ctl.internal/host/internal/address"
	"ctl.internal/host/internal/restconf"
	"ctl.internal/host/internal/web"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
)

// router is the mux after access control. It is built again when plugins come and
// go and replaced as a whole, so a request never waits for that.
type router struct {
	fixed  func(*mux.Router)
	plugin func(name string) http.Handler
	now    atomic.Pointer[routes]
	// absent says why a path is not served now that a plugin may serve, nil = no plugin does; it may be nil.
	absent func(path string) error
}

// routes are those of one moment.
type routes struct {
	mux      *mux.Router
	others   address.Routes
	subtrees map[string]bool // first segments below which something is served
}

// newRouter makes a router with the host's own routes; plugin returns the handler
// of a plugin's subtree.
func newRouter(fixed func(*mux.Router), plugin func(name string) http.Handler) *router {
	r := &router{fixed: fixed, plugin: plugin}
	r.updateRoutes(nil)
	return r
}

// updateRoutes mounts the subtrees of the manifests given, besides the fixed routes.
func (r *router) updateRoutes(manifests []*pluginv1.Manifest) {
	m := mux.NewRouter()
	r.fixed(m)
	subtrees := map[string]bool{}
	for _, path := range reservedPaths() {
		subtrees[path] = true
	}
	for _, mf := range manifests {
		for _, route := range mf.Routes {
			mountSubtree(m, route.Path, r.plugin(mf.Name))
			subtrees[route.Path] = true
		}
	}
	m.NotFoundHandler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Sec-Fetch-Mode") == "navigate" {
			web.Refusal(w, r, http.StatusNotFound, "there is nothing at this address")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"errors":{"error":[{"error-type":"protocol","error-tag":"invalid-value","error-message":"there is nothing at this path"}]}}` + "\n"))
	})
	r.now.Store(&routes{m, address.NewRoutes(manifests), subtrees})
}

// mountExact mounts a handler on a path, which is the route's name. Paths are normalised before they come here; the decoded
// form would give the mux another view than access control had. mux's own matcher of paths is a regular expression.
func mountExact(m *mux.Router, path string, h http.Handler) {
	m.MatcherFunc(func(r *http.Request, _ *mux.RouteMatch) bool {
		return r.URL.EscapedPath() == path
	}).Name(path).Handler(h)
}

// mountSubtree mounts a handler on a path and all that is below it; "/auth" is not the beginning of "/authors".
func mountSubtree(m *mux.Router, path string, h http.Handler) {
	m.MatcherFunc(func(r *http.Request, _ *mux.RouteMatch) bool {
		below, in := strings.CutPrefix(r.URL.EscapedPath(), path)
		return in && (below == "" || below[0] == '/')
	}).Name(path).Handler(h)
}

// ServeHTTP hands on to the routes of the moment. No route has variables, so the mux is asked
// only for the handler: mux.Router.ServeHTTP would copy the request twice.
func (r *router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	now := r.now.Load()
	var match mux.RouteMatch
	if now.mux.Match(req, &match) && match.MatchErr == nil {
		match.Handler.ServeHTTP(w, req)
		return
	}
	if r.absent != nil {
		if err := r.absent(req.URL.EscapedPath()); err != nil {
			answerUnavailable(w, req, err)
			return
		}
	}
	now.mux.NotFoundHandler.ServeHTTP(w, req)
}

// answerUnavailable answers that what serves a path does not run.
func answerUnavailable(w http.ResponseWriter, req *http.Request, why error) {
	if req.Header.Get("Sec-Fetch-Mode") == "navigate" {
		w.Header().Set("Retry-After", "1")
		web.Refusal(w, req, http.StatusServiceUnavailable, why.Error())
		return
	}
	refuseRoute(w, why)
}

// reservedPaths are those that no plugin may claim.
func reservedPaths() []string {
	return slices.Concat(
		restconf.Prefixes[:],
		web.Paths[:],
		[]string{"/auth", "/oauth2", "/.well-known", "/metrics", "/livez", "/readyz", "/healthz", "/login", docsPath},
	)
}

// hostRoutes mounts the host's own subtrees, the most used first: the mux asks them in this order.
func (s *Server) hostRoutes(m *mux.Router) {
	for _, p := range restconf.Prefixes {
		mountSubtree(m, p, s.restconf)
	}
	mountSubtree(m, "/auth", s.aaa.Handler())
	mountSubtree(m, "/oauth2", s.aaa.Handler())
	mountSubtree(m, "/.well-known/oauth-authorization-server", s.aaa.Handler())
	mountSubtree(m, docsPath, docsHandler(filepath.Join(programDir(), "docs")))
	pages := web.New(s.webOptions())
	mountExact(m, "/", pages)
	mountSubtree(m, "/login", pages)
	mountExact(m, "/web/events", s.restconf.Merged(s.mayRead))
	for _, p := range []string{"/web/login", "/web/logout", "/web/me", "/web/sessions", "/web/keys"} {
		mountSubtree(m, p, s.aaa.Handler())
	}
	for _, p := range web.Paths {
		mountSubtree(m, p, pages)
	}
}

// mayRead reports whether the caller of ctx may read an event stream by itself.
func (s *Server) mayRead(ctx context.Context, stream string) bool {
	who, _ := caller.From(ctx)
	return s.aaa.Allows(
		ctx,
		who,
		http.MethodGet,
		"/rests/streams/json/"+url.PathEscape(stream),
	) == nil
}
