// Package idm serves the identity management under /auth/v1, the version
// resource /auth/, the token endpoints under /oauth2 and the sessions of the pages under /web. It is a thin edge: what
// is allowed and kept is decided by packages identity, token and authn.
package idm

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/token"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Options are what the handlers need; all are required.
type Options struct {
	Identity *identity.Service
	Tokens   *token.Service
	Authn    *authn.Authenticator
	Log      *slog.Logger
	// Change records an issued or revoked token in the audit stream.
	Change func(ctx context.Context, action, object string)
	// Explain says what decides a request of a user, and why.
	Explain func(ctx context.Context, user, method, path string) (any, error)
	// OwnPassword changes the password of a user who sends the present one.
	OwnPassword func(ctx context.Context, user, current, fresh string, from netip.AddrPort) error
	// May returns why a caller may not make a request; nil when it may.
	May      func(ctx context.Context, who caller.Caller, method, path string) error
	Sessions Sessions
}

type handler struct{ Options }

// endpoint returns the status and the body of the answer to one request, 0 when it has answered by itself; id are the
// variable segments of its path.
type endpoint func(w http.ResponseWriter, r *http.Request, id []string) (int, any, error)

// route is a path with its methods. An empty segment is a variable.
type route struct {
	path    []string
	methods map[string]endpoint
}

// New returns the handler of /auth and /oauth2. It expects the path that the
// filter put into the context.
func New(o Options) http.Handler {
	h := &handler{o}
	routes := h.allRoutes()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := reqpath.From(r.Context())
		if !ok {
			h.writeFailure(
				w,
				r,
				http.StatusInternalServerError,
				"access control is missing before this service",
			)
			return
		}
		h.serveRoute(routes, path, w, r)
	})
}

// Paths are the paths of the endpoints; an empty segment is a variable.
func Paths() (paths [][]string) {
	for _, r := range new(handler).allRoutes() {
		paths = append(paths, r.path)
	}
	return paths
}

func (h *handler) allRoutes() []route {
	return slices.Concat([]route{
		{[]string{"auth"}, map[string]endpoint{"GET": h.showVersion}},
		{[]string{"auth", "v1", "access", "explain"}, map[string]endpoint{"GET": h.explainAccess}},
		{[]string{"auth", "password"}, map[string]endpoint{"POST": h.changeOwnPassword}},
		{[]string{"auth", "v1", "domains", "", "users", "", "roles"}, map[string]endpoint{
			"GET":  h.listGrants,
			"POST": h.createGrant,
		}},
		{[]string{"auth", "v1", "domains", "", "users", "", "roles", ""}, map[string]endpoint{"DELETE": h.deleteGrant}},
		{[]string{".well-known", "oauth-authorization-server"}, map[string]endpoint{"GET": h.serverMetadata}},
		{[]string{"oauth2", "token"}, map[string]endpoint{"POST": h.issueToken}},
		{[]string{"oauth2", "revoke"}, map[string]endpoint{"POST": h.revokeToken}},
		{[]string{"oauth2", "introspect"}, map[string]endpoint{"POST": h.introspectToken}},
		{[]string{"web", "login"}, map[string]endpoint{"POST": h.logIn}},
		{[]string{"web", "logout"}, map[string]endpoint{"POST": h.logOut}},
		{[]string{"web", "me"}, map[string]endpoint{"GET": h.showSelf}},
		{[]string{"web", "sessions"}, map[string]endpoint{"GET": h.listSessions}},
		{[]string{"web", "sessions", ""}, map[string]endpoint{"DELETE": h.endSession}},
		{[]string{"web", "keys"}, map[string]endpoint{
			"GET":  h.ofKeyOwner(h.listKeys),
			"POST": h.ofKeyOwner(h.addKey),
		}},
		{[]string{"web", "keys", ""}, map[string]endpoint{"DELETE": h.ofKeyOwner(h.removeKey)}},
	}, h.usersKind().kindRoutes(), h.rolesKind().kindRoutes(), h.domainsKind().kindRoutes())
}

func (h *handler) serveRoute(
	routes []route,
	path reqpath.Path,
	w http.ResponseWriter,
	r *http.Request,
) {
	for _, rt := range routes {
		id, ok := rt.matchPath(path.Segments())
		if !ok {
			continue
		}
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		if e := rt.methods[method]; e != nil {
			switch status, body, err := e(w, r, id); {
			case err != nil:
				h.writeFault(w, r, err)
			case status == http.StatusNoContent:
				w.WriteHeader(status)
			case status != 0:
				Answer(w, r, status, body)
			}
			return
		}
		w.Header().Set("Allow", rt.allowedMethods())
		if method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.writeFailure(
			w,
			r,
			http.StatusMethodNotAllowed,
			r.Method+" is not allowed here; allowed are "+rt.allowedMethods(),
		)
		return
	}
	h.writeFailure(w, r, http.StatusNotFound, "this path does not exist")
}

func (rt route) matchPath(segments []reqpath.Segment) ([]string, bool) {
	if len(segments) != len(rt.path) {
		return nil, false
	}
	var id []string
	for i, p := range rt.path {
		if p == "" {
			id = append(id, segments[i].Decoded)
		} else if p != segments[i].Decoded {
			return nil, false
		}
	}
	return id, true
}

func (rt route) allowedMethods() string {
	methods := []string{"OPTIONS"}
	for m := range rt.methods {
		methods = append(methods, m)
		if m == "GET" {
			methods = append(methods, "HEAD")
		}
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

func (h *handler) showVersion(http.ResponseWriter, *http.Request, []string) (int, any, error) {
	return http.StatusOK, struct {
		ID      string `json:"id"`
		Updated string `json:"updated"`
		Status  string `json:"status"`
	}{"v1", "2026-11-20T00:00:00Z", "CURRENT"}, nil
}

// explainAccess is GET /auth/v1/access/explain?user=&method=&path=, for administrators: what decides a request.
func (h *handler) explainAccess(
	_ http.ResponseWriter,
	r *http.Request,
	_ []string,
) (int, any, error) {
	who, _ := caller.From(r.Context())
	if !who.HasRole("admin") { // also where the rules leave /auth/v1 open
		return 0, nil, fault.New(
			fault.Denied,
			"only role admin may query the rights of other users",
		)
	}
	q := r.URL.Query()
	user := q.Get("user")
	method := q.Get("method")
	path := q.Get("path")
	if user == "" || method == "" || path == "" {
		return 0, nil, fault.New(fault.Missing, "the parameters user, method and path are required")
	}
	x, err := h.Explain(r.Context(), user, method, path)
	return http.StatusOK, x, err
}
