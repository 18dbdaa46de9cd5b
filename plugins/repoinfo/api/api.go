package api

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/review"
	"ctl.internal/plugins/repoinfo/spool"
	"ctl.internal/plugins/repoinfo/syncer"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/together"
)

// API is what the requests are answered with.
type API struct {
	Folder  *clones.Folder
	Lister  *history.Lister
	Answers *spool.Cache
	Syncer  *syncer.Syncer
	Review  *review.Client // nil = no review server is configured
	Log     *slog.Logger

	Renames bool          // detect renames unless a request says otherwise
	Skip    bool          // leave out the review server's own commits unless a request says otherwise
	MaxPage int           // largest limit
	Timeout time.Duration // of one walk
	Walks   int           // walks at a time; others wait

	slots    chan struct{}
	branches together.Group[[]string]
	infos    together.Group[any]
}

// endpoint answers a request or says why not.
type endpoint func(w http.ResponseWriter, r *http.Request, p params) error

// Handler serves the paths without a prefix; the caller strips his own.
func (a *API) Handler() http.Handler {
	a.slots = make(chan struct{}, max(1, a.Walks))
	table := map[string]endpoint{
		"/git/branches":          a.gitBranches,
		"/git/commits":           a.gitCommits,
		"/git/commits_since_ref": a.gitCommitsSinceRef,
		"/git/project_info":      a.gitProjectInfo,
		"/review/branches":       a.reviewBranches,
		"/review/changes":        a.reviewChanges,
		"/review/projects":       a.reviewProjects,
		"/review/tags":           a.reviewTags,
		"/":                      status,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := canonical(r.URL.Path)
		answer, known := table[path]
		if !known {
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
			writeProblem(w, r, http.StatusBadRequest, "The query of the address does not parse: "+err.Error(), "")
			return
		}
		if err := answer(w, r, params{values}); err != nil {
			a.fail(w, r, err)
		}
	})
}

// canonical maps the aliases that older clients use to the documented paths.
func canonical(path string) string {
	path = "/" + strings.Trim(path, "/")
	if rest, ok := strings.CutPrefix(path, "/gerrit/"); ok {
		path = "/review/" + rest
	}
	if path == "/review/merged_changes" {
		return "/review/changes"
	}
	return path
}

// fail writes an error as a problem; what happened inside goes to the log only.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody listens any more
	}
	problems := fault.All(err)
	first := problems[0]
	code := statusOf(first)
	if code >= 500 {
		a.Log.Warn("a request failed", "path", r.URL.Path, "project", r.URL.Query().Get("project"), "error", err, "cause", errors.Unwrap(first))
	}
	text := first.Text
	if code == http.StatusInternalServerError {
		text = "The repository could not be read; the log of repoinfo says why."
	}
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "30")
	}
	writeProblem(w, r, code, text, first.Path)
}

func statusOf(f *fault.Error) int {
	switch f.Kind {
	case fault.Invalid, fault.Missing:
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Exists, fault.InUse:
		return http.StatusConflict
	case fault.Malformed:
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
