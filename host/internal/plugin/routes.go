package plugin

import (
	"errors"
	"net/http"
	"strings"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/routes"
)

// Route is an HTTP subtree that a plugin serves.
type Route struct {
	Plugin  string
	Path    string // "/repoinfo"
	Summary string
}

// Routes lists the subtrees of all plugins, by the newest manifests.
func (m *Manager) Routes() []Route {
	var out []Route
	for _, s := range m.index.Load().plugins {
		for _, r := range s.manifest.Load().GetRoutes() {
			out = append(out, Route{Plugin: s.name, Path: r.Path, Summary: r.Summary})
		}
	}
	return out
}

// ServeRoute forwards a request to the plugin that serves its path. The caller is in
// the request's context. GET and HEAD survive a crash of the plugin as long as
// nothing was answered; begun tells whether something was, so that the caller can
// still answer the error.
func (m *Manager) ServeRoute(w http.ResponseWriter, r *http.Request, plugin string) (begun bool, err error) {
	s, err := m.get(plugin)
	if err != nil {
		return false, err
	}
	bodyless := r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0
	if bodyless && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		r = r.WithContext(Safe(r.Context()))
	}
	c := routes.NewClient(conn{s})
	begun, err = c.Forward(w, r)
	var down *UnavailableError
	if !begun && isSafe(r.Context()) && errors.As(err, &down) && s.await(r.Context(), true) == nil {
		s.stats.repeated.Add(1)
		begun, err = c.Forward(w, r)
	}
	return begun, err
}

// RouteOf returns the plugin whose subtree holds a path, the longest one.
func (m *Manager) RouteOf(path string) (plugin string, err error) {
	best := ""
	for _, s := range m.index.Load().plugins {
		for _, r := range s.manifest.Load().GetRoutes() {
			rest, ok := strings.CutPrefix(path, r.Path)
			if ok && (rest == "" || rest[0] == '/') && len(r.Path) > len(best) {
				best, plugin = r.Path, s.name
			}
		}
	}
	if best == "" {
		return "", fault.New(fault.NotFound, "no installed feature serves %s", path)
	}
	return plugin, nil
}
