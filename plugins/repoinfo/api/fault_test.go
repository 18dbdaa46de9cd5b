package api

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
)

// problemOf asks for something that must fail and returns the problem.
func (s *site) problemOf(path string, status int) problem {
	s.t.Helper()
	res, body := s.get(path)
	var p problem
	err := json.Unmarshal(body, &p)
	if res.StatusCode != status || err != nil || res.Header.Get("Content-Type") != "application/problem+json" {
		s.t.Errorf("%s: %d (want %d) %s %s", path, res.StatusCode, status, res.Header.Get("Content-Type"), body)
	}
	if p.Error == "" || p.Error != p.Detail || p.Status != status || p.Title == "" || p.Type != "about:blank" {
		s.t.Errorf("%s: incomplete problem %s", path, body)
	}
	return p
}

func TestWhatIsRefused(t *testing.T) {
	s := newSite(t)
	s.zoo("zoo")
	gittest.New(t, filepath.Join(s.dir, "empty.git"))
	long := strings.Repeat("x", 1100)
	for _, row := range []struct {
		path      string
		status    int
		parameter string
		text      string
	}{
		{"/git/commits", 400, "project", "Missing parameter project."},
		{"/git/commits?project=", 400, "project", "empty"},
		{"/git/commits?project=a&project=b", 400, "project", "2 times"},
		{"/git/commits?project=../zoo", 400, "project", ""},
		{"/git/commits?project=%2e%2e/zoo", 400, "project", ""},
		{"/git/commits?project=zoo%00", 400, "project", ""},
		{"/git/commits?project=zoo.git/objects", 400, "project", ""},
		{"/git/commits?project=/etc", 400, "project", ""},
		{"/git/commits?project=nope", 404, "", "nope"},
		{"/git/commits?project=empty", 404, "", "master"},
		{"/git/commits?project=zoo&branch=nope", 404, "", "Branch nope was not found"},
		{"/git/commits?project=zoo&branch=--all", 400, "branch", ""},
		{"/git/commits?project=zoo&branch=one..two", 400, "branch", ""},
		{"/git/commits?project=zoo&branch=master~1", 400, "branch", ""},
		{"/git/commits?project=zoo&branch=a%00b", 400, "branch", ""},
		{"/git/commits?project=zoo&branch=a%0ab", 400, "branch", ""},
		{"/git/commits?project=zoo&branch=:/x", 400, "branch", ""},
		{"/git/commits?project=zoo&limit=0", 400, "limit", ""},
		{"/git/commits?project=zoo&limit=1001", 400, "limit", "1000"},
		{"/git/commits?project=zoo&limit=x", 400, "limit", ""},
		{"/git/commits?project=zoo&cursor=x", 400, "cursor", ""},
		{"/git/commits?project=zoo&since=soon", 400, "since", ""},
		{"/git/commits?project=zoo&since=-1", 400, "since", ""},
		{"/git/commits?project=zoo&since=2017-01-02&until=2017-01-01", 400, "since", ""},
		{"/git/commits?project=zoo&path=../x", 400, "path", ""},
		{"/git/commits?project=zoo&path=/x", 400, "path", ""},
		{"/git/commits?project=zoo&merges=maybe", 400, "merges", ""},
		{"/git/commits?project=zoo&stats=maybe", 400, "stats", ""},
		{"/git/commits?project=zoo&renames=2", 400, "renames", ""},
		{"/git/commits?project=zoo&skip=x", 400, "skip", ""},
		{"/git/commits?project=zoo&format=xml", 400, "format", ""},
		{"/git/commits?project=zoo&author=a%00", 400, "author", ""},
		{"/git/commits?project=zoo&author=" + long, 400, "author", ""},
		{"/git/commits?project=zoo&author=%zz", 400, "", "query"},
		{"/git/commits_since_ref?project=zoo", 400, "ref1", "Missing parameter ref1."},
		{"/git/commits_since_ref?project=zoo&ref1=master", 400, "ref2", "Missing parameter ref2."},
		{"/git/commits_since_ref?project=zoo&ref1=master&ref2=A..B", 400, "ref2", ""},
		{"/git/commits_since_ref?project=zoo&ref1=master&ref2=nope", 404, "", "nope"},
		{"/git/commits_since_ref?project=zoo&ref1=master&ref2=unrelated", 409, "", "no common ancestor"},
		{"/git/branches", 400, "project", ""},
		{"/git/branches?project=nope", 404, "", ""},
		{"/git/project_info?project=zoo", 404, "", "INFO.yaml"},
		{"/git/project_info?project=empty", 404, "", ""},
		{"/review/projects", 503, "", "review_url"},
		{"/review/tags?project=x", 503, "", ""},
		{"/review/branches", 400, "project", ""},
		{"/review/changes", 400, "project", ""},
		{"/nowhere", 404, "", ""},
		{"/git", 404, "", ""},
	} {
		p := s.problemOf(row.path, row.status)
		if p.Parameter != row.parameter || !strings.Contains(p.Detail, row.text) {
			t.Errorf("%s: parameter %q, %s", row.path, p.Parameter, p.Detail)
		}
	}
}

func TestMethods(t *testing.T) {
	s := newSite(t)
	s.zoo("zoo")
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
		req, err := http.NewRequestWithContext(t.Context(), method, s.srv.URL+"/git/commits?project=zoo", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != 405 || res.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d %q", method, res.StatusCode, res.Header.Get("Allow"))
		}
	}
	for _, path := range []string{"/", "/git/commits?project=zoo", "/git/branches?project=zoo"} {
		res, err := s.srv.Client().Head(s.srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != 200 {
			t.Errorf("HEAD %s: %d", path, res.StatusCode)
		}
	}
	if res, body := s.get("/git/branches/?project=zoo"); res.StatusCode != 200 {
		t.Errorf("a slash at the end: %d %s", res.StatusCode, body)
	}
}

func TestACursorBelongsToItsRequest(t *testing.T) {
	s := newSite(t)
	s.zoo("zoo")
	res, _ := s.get("/git/commits?project=zoo&limit=2")
	next := follow(t, "/git/commits", res.Header.Get("Link"))
	values, err := url.ParseQuery(next[strings.Index(next, "?")+1:])
	if err != nil {
		t.Fatal(err)
	}
	c := values.Get("cursor")
	for _, path := range []string{"/git/commits?project=zoo&limit=2&author=x@y&cursor=", "/git/commits?project=zoo&branch=two&cursor=",
		"/git/commits_since_ref?project=zoo&ref1=master&ref2=two&cursor="} {
		if p := s.problemOf(path+c, 400); p.Parameter != "cursor" {
			t.Errorf("%s: %+v", path, p)
		}
	}
	var p page
	s.ok("/git/commits?project=zoo&limit=5&cursor="+c, &p) // another size is no other list
	if len(p.Commits) != 5 {
		t.Errorf("%d commits", len(p.Commits))
	}
}

func TestGitMissing(t *testing.T) {
	s := newSite(t)
	s.zoo("zoo")
	res, _ := s.get("/git/commits?project=zoo")
	if res.StatusCode != 200 {
		t.Fatal(res.Status)
	}
	t.Setenv("PATH", t.TempDir())
	for _, path := range []string{"/git/commits?project=zoo", "/git/branches?project=zoo", "/git/project_info?project=zoo"} {
		if p := s.problemOf(path, 503); !strings.Contains(p.Detail, "install git") {
			t.Errorf("%s: %s", path, p.Detail)
		}
	}
}

func TestADamagedHistoryIsNeverTakenForAWholeOne(t *testing.T) {
	for _, back := range []string{"master~1", "master~4", "master~150"} {
		s := newSite(t)
		g := gittest.Long(t, filepath.Join(s.dir, "long.git"), 300)
		g.Explode()
		lost := g.Head(back)
		if err := os.Remove(filepath.Join(g.Dir, "objects", lost[:2], lost[2:])); err != nil {
			t.Fatal(err)
		}
		res, err := s.srv.Client().Get(s.srv.URL + "/git/commits?project=long&stats=false")
		if errors.Is(err, io.EOF) {
			continue // broken off before the first byte came through: no whole answer either
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode == 200 && (err == nil || json.Valid(body)) {
			t.Errorf("%s is lost: a whole answer of %d bytes", back, len(body))
		}
		if res.StatusCode != 200 && (res.StatusCode != 500 || strings.Contains(string(body), g.Dir)) {
			t.Errorf("%s is lost: %d %s", back, res.StatusCode, body)
		}
	}
}

// spy makes the API use a git that notes its arguments.
func (s *site) spy() (calls func() []string) {
	s.t.Helper()
	dir := s.t.TempDir()
	note, script := filepath.Join(dir, "calls"), filepath.Join(dir, "git")
	text := "#!/bin/sh\nprintf '%s\\n' \"$*\" >>" + note + "\nexec git \"$@\"\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
	*s.git() = gitcmd.Git{Path: script}
	return func() []string {
		data, err := os.ReadFile(note)
		if err != nil {
			s.t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
}

// git is the program that the site's folder hands out.
func (s *site) git() *gitcmd.Git {
	s.t.Helper()
	gittest.New(s.t, filepath.Join(s.dir, "probe.git"))
	repo, release, err := s.Folder.Open(s.t.Context(), "probe")
	if err != nil {
		s.t.Fatal(err)
	}
	release()
	return repo.Git
}
