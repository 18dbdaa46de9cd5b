package server

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/gorilla/mux"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/restconf"
	"ctl.internal/host/internal/web"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// router is the mux behind access control. It is built anew when plugins come and
// go and replaced as a whole, so a request never waits for that.
type router struct {
	fixed  func(*mux.Router)
	plugin func(name string) http.Handler
	now    atomic.Pointer[routes]
}

// routes are those of one moment.
type routes struct {
	mux *mux.Router
	// whole are the handlers of the subtrees that are one segment deep and that the mux
	// would ask first of all under that segment, by it: "/restconf".
	whole   map[string]http.Handler
	aliases []routeAlias
	queries []routeQuery
}

// newRouter makes a router with the host's own routes; plugin returns the handler
// of a plugin's subtree.
func newRouter(fixed func(*mux.Router), plugin func(name string) http.Handler) *router {
	r := &router{fixed: fixed, plugin: plugin}
	r.update(nil)
	return r
}

// update mounts the subtrees of the manifests given, besides the fixed routes.
func (r *router) update(manifests []*pluginv1.Manifest) {
	// Paths are normalised before they come here; cleaning them again, or matching the
	// decoded form, would give the mux another view than access control had.
	m := mux.NewRouter().UseEncodedPath().SkipClean(true)
	r.fixed(m)
	for _, mf := range manifests {
		for _, route := range mf.Routes {
			subtree(m, route.Path, r.plugin(mf.Name))
		}
	}
	m.NotFoundHandler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"errors":{"error":[{"error-type":"protocol","error-tag":"invalid-value","error-message":"there is nothing at this path"}]}}` + "\n"))
	})
	r.now.Store(&routes{m, wholeSubtrees(m), routeAliases(manifests), routeQueries(manifests)})
}

// wholeSubtrees lists the subtrees one segment deep before which no other route takes
// a path under that segment: for those the mux need not be asked.
func wholeSubtrees(m *mux.Router) map[string]http.Handler {
	out, taken := map[string]http.Handler{}, map[string]bool{}
	_ = m.Walk(func(route *mux.Route, _ *mux.Router, _ []*mux.Route) error {
		path, err := route.GetPathTemplate()
		if err != nil || strings.ContainsAny(path, "{}") { // which paths it takes only the mux can tell, nor who comes after it
			return errors.Join(err, mux.ErrNotFound)
		}
		first := firstSegment(path)
		if !taken[first] && first == path && path != "/" {
			out[first] = route.GetHandler()
		}
		taken[first] = true
		return nil
	})
	return out
}

// firstSegment is a path up to its second slash.
func firstSegment(path string) string {
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return path
}

// subtree mounts a handler on a path and all that is below it.
func subtree(m *mux.Router, path string, h http.Handler) {
	whole := func(r *http.Request, _ *mux.RouteMatch) bool { // "/auth" is not the beginning of "/authors"
		p := r.URL.EscapedPath()
		return len(p) == len(path) || len(p) > len(path) && p[len(path)] == '/'
	}
	m.PathPrefix(path).MatcherFunc(whole).Handler(h)
}

// ServeHTTP hands on to the routes of the moment. Where the first segment does not
// tell already, it asks the mux who serves the path and calls that handler as it is:
// no route here has variables, for which mux.Router.ServeHTTP would copy the request
// twice.
func (r *router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	now := r.now.Load()
	if path, ok := reqpath.From(req.Context()); ok {
		if h := now.whole[firstSegment(path.Canonical())]; h != nil {
			h.ServeHTTP(w, req)
			return
		}
	}
	var match mux.RouteMatch
	if now.mux.Match(req, &match) && match.Handler != nil {
		match.Handler.ServeHTTP(w, req)
		return
	}
	now.mux.NotFoundHandler.ServeHTTP(w, req)
}

// hostRoutes mounts the host's own subtrees.
func (s *Server) hostRoutes(m *mux.Router) {
	for _, p := range restconf.Prefixes {
		subtree(m, p, s.restconf)
	}
	subtree(m, "/auth", s.aaa.Handler())
	subtree(m, "/oauth2", s.aaa.Handler())
	subtree(m, "/.well-known/oauth-authorization-server", s.aaa.Handler())
	pages := web.New(s.webOptions())
	m.Path("/").Handler(pages)
	for _, p := range web.Paths {
		subtree(m, p, pages)
	}
}
