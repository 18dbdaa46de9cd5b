// Package api answers HTTP requests: it reads parameters, has packages history, report
// and review work, and writes JSON, CSV, HTML or a problem document.
package api

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/jobs"
	"ctl.internal/plugins/repoinfo/release"
	"ctl.internal/plugins/repoinfo/report"
	"ctl.internal/plugins/repoinfo/review"
	"ctl.internal/plugins/repoinfo/syncer"
	"ctl.internal/plugins/repoinfo/turns"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// API is what the requests are answered with.
type API struct {
	Folder    *clones.Folder
	Lister    *history.Lister
	Reports   *report.Maker
	Releases  *release.Maker
	Templates release.Templates
	Jobs      *jobs.Store
	Turns     *turns.Queue
	Syncer    *syncer.Syncer
	Review    *review.Client // nil = no review server is configured
	Log       *slog.Logger

	Renames   bool          // detect renames unless a request says otherwise
	Skip      bool          // leave out the review server's own commits unless a request says otherwise
	PathsOnly bool          // refuse the parameter project: only addresses that name the project in their path
	MaxPage   int           // largest limit of a list of commits
	Timeout   time.Duration // of one walk
	Secret    []byte        // cursors are signed with it

	asked together.Group[any] // questions for a repository that are being answered
}

// endpoint is one path. get answers a request or says why not.
type endpoint struct {
	path    string
	summary string
	params  []param
	schema  string // of the answer, in schemas.json
	get     handler
}

type handler = func(a *API, w http.ResponseWriter, r *http.Request, p *params) error

// Handler serves the paths without a prefix; the caller strips his own.
func (a *API) Handler() http.Handler {
	table := map[string]endpoint{}
	for _, e := range listEndpoints() {
		table[e.path] = e
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, project, inPath := canonicalPath(r.URL)
		e, known := table[path]
		if !known || (inPath && (project == "" || !e.hasParam("project"))) {
			writeProblem(w, r, http.StatusNotFound, "There is nothing at this path.", "")
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			writeProblem(w, r, http.StatusMethodNotAllowed, "Only GET is answered here.", "")
			return
		}
		values, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			writeProblem(
				w,
				r,
				http.StatusBadRequest,
				"The query of the address does not parse: "+err.Error(),
				"",
			)
			return
		}
		_, inQuery := values["project"]
		switch {
		case inPath && inQuery:
			err = invalidParameter(
				"project",
				"Parameter project must not be given together with the project in the path.",
			)
		case inPath:
			values.Set("project", project)
		case inQuery && a.PathsOnly:
			err = fault.At(
				fault.Denied,
				"project",
				"Projects are named in the path here: /projects/NAME%s.",
				path,
			)
		}
		if err == nil {
			err = e.get(a, w, r, &params{values: values})
		}
		if err != nil {
			a.writeError(w, r, err)
		}
	})
}

// canonicalPath maps the addresses that name a project in their path, and the aliases that
// older clients use, to the documented paths. A project's slashes stand as they are: one
// spelling only, so that access rules see every project under one path.
func canonicalPath(u *url.URL) (path, project string, inPath bool) {
	path = "/" + strings.Trim(u.Path, "/")
	if rest, ok := strings.CutPrefix(path, "/projects/"); ok {
		inPath = true
		if strings.Contains(strings.ToLower(u.EscapedPath()), "%2f") {
			return "", "", true
		}
		parts := strings.Split(rest, "/")
		if len(parts) < 3 {
			return "", "", true
		}
		project = strings.Join(parts[:len(parts)-2], "/")
		path = "/" + strings.Join(parts[len(parts)-2:], "/")
	}
	if rest, ok := strings.CutPrefix(path, "/gerrit/"); ok {
		path = "/review/" + rest
	}
	if path == "/review/merged_changes" {
		path = "/review/changes"
	}
	return path, project, inPath
}

// callerName is who asks, for fairness: the authenticated user, else the address.
func callerName(r *http.Request) string {
	who, ok := caller.From(r.Context())
	if ok && who.User != "" {
		return who.User + "@" + who.Domain
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// writeError writes an error as a problem; what happened inside goes to the log only.
func (a *API) writeError(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client has gone
	}
	problems := fault.All(err)
	first := problems[0]
	code := statusOf(first)
	if code >= 500 {
		a.Log.Warn("a request failed", "path", r.URL.Path, "project", r.URL.Query().Get("project"), "error", err,
			"cause", errors.Unwrap(first))
	}
	text := first.Text
	var wait *review.BusyError
	switch busy := (*turns.BusyError)(nil); {
	case errors.As(err, &busy) && busy.Own:
		code = http.StatusTooManyRequests
		w.Header().Set("Retry-After", "5")
	case code == http.StatusInternalServerError:
		text = "The repository could not be read; the log of repoinfo says why."
	case errors.As(err, &wait):
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.After.Seconds())))
	case code == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "30")
	}
	writeProblem(w, r, code, text, first.Path)
}

func statusOf(f *fault.Error) int {
	switch f.Kind {
	case fault.Invalid, fault.Missing:
		return http.StatusBadRequest
	case fault.Denied:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Exists, fault.InUse:
		return http.StatusConflict
	case fault.Malformed, fault.TooBig:
		return http.StatusUnprocessableEntity
	case fault.Downstream:
		return http.StatusBadGateway
	case fault.Timeout:
		return http.StatusGatewayTimeout
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
