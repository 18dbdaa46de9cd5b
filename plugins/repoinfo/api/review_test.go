package api

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestReviewPathsAndAliases(t *testing.T) {
	answers := map[string]string{
		"/projects/":                              `{"b":{},"All-Users":{},"a/x":{}}`,
		"/projects/a%2Fx/branches/":               `[{"ref":"HEAD","revision":"master"},{"ref":"refs/heads/master","revision":"00","can_delete":true}]`,
		"/projects/a%2Fx/tags/":                   `[{"ref":"refs/tags/light","revision":"00"}]`,
		"/changes/master":                         `[{"_number":7,"subject":"<é>","hashtags":[],"submittable":false,"new_field":1.0}]`,
		"/changes/stable/boron":                   `[]`,
		"/projects/none/branches/":                `[]`,
		"/projects/a%2Fx/branches/stable%2Fboron": `{"ref":"refs/heads/stable/boron","revision":"00"}`,
		"/projects/none/tags/":                    `[]`,
	}
	s := newSite(t, withReview(t, time.Minute, func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		if q := r.URL.Query().Get("q"); q != "" {
			branch := q[strings.Index(q, `branch:"`)+8:]
			path += strings.TrimSuffix(branch, `"`)
		}
		body, ok := answers[path]
		if !ok {
			http.Error(w, "Not found", 404)
			return
		}
		_, _ = io.WriteString(w, ")]}'\n"+body+"\n")
	}))
	for path, want := range map[string]string{
		"/review/projects":                                `{"projects":["a/x","b"]}`,
		"/gerrit/projects":                                `{"projects":["a/x","b"]}`,
		"/review/branches?project=a/x":                    `{"branches":` + answers["/projects/a%2Fx/branches/"] + `}`,
		"/gerrit/branches?project=a/x":                    `{"branches":` + answers["/projects/a%2Fx/branches/"] + `}`,
		"/review/tags?project=a/x":                        `{"tags":` + answers["/projects/a%2Fx/tags/"] + `}`,
		"/review/changes?project=a/x":                     `{"changes":` + answers["/changes/master"] + `}`,
		"/gerrit/merged_changes?project=a/x":              `{"changes":` + answers["/changes/master"] + `}`,
		"/review/changes?project=a/x&branch=stable/boron": `{"changes":[]}`,
		"/review/branches?project=none":                   `{"branches":[]}`,
		"/gerrit/tags?project=none":                       `{"tags":[]}`,
	} {
		res, body := s.get(path)
		if res.StatusCode != 200 || strings.TrimSpace(string(body)) != want {
			t.Errorf("%s: %d %s, want %s", path, res.StatusCode, body, want)
		}
		if again, _ := s.get(path, "If-None-Match", res.Header.Get("ETag")); again.StatusCode != 304 {
			t.Errorf("%s again: %d", path, again.StatusCode)
		}
	}
	s.problemOf("/review/tags?project=unknown", 404)
	s.problemOf("/review/tags?project=../x", 400)
	s.problemOf("/review/changes?project=x&branch=a..b", 400)
}

func TestReviewServerFaults(t *testing.T) {
	for name, row := range map[string]struct {
		answer http.HandlerFunc
		status int
	}{
		"web page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>")
		}, 502},
		"truncated": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `)]}'`+"\n[{") }, 502},
		"429":       {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "0"); w.WriteHeader(429) }, 503},
		"429 for long": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "1200")
			w.WriteHeader(429)
		}, 503},
		"slow": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 504},
	} {
		timeout := time.Minute
		if row.status == http.StatusGatewayTimeout { // silence is to be short
			timeout = 200 * time.Millisecond
		}
		s := newSite(t, withReview(t, timeout, row.answer))
		if p := s.problemOf("/review/branches?project=p", row.status); !strings.Contains(p.Detail, "review server") {
			t.Errorf("%s: %s", name, p.Detail)
		}
		if name == "429 for long" {
			if res, _ := s.get("/review/branches?project=p"); res.Header.Get("Retry-After") != "1200" {
				t.Errorf("the time that the server named is not passed on: %v", res.Header)
			}
		}
	}
}
