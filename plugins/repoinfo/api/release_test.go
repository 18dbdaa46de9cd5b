package api

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/release"
)

// releases adds a project with the tags v1 and v2.
func (s *site) releases(project string) {
	g := gittest.New(s.t, filepath.Join(s.dir, project+".git"))
	var stream gittest.Stream
	base := stream.Add(gittest.Commit{Message: "Base\n"})
	stream.Add(gittest.Commit{Branch: "stable", Parents: []int{base}, Message: "Fix\n", Files: map[string]string{"a": "1\n"}})
	stream.Add(gittest.Commit{Message: "Fix\n", Files: map[string]string{"a": "1\n"}})
	stream.Add(gittest.Commit{Author: "New <new@example.org>", Message: "<New>\n", Files: map[string]string{"b": "1\n"}})
	g.Import(stream.String())
	g.Git("tag", "v1", "stable")
	g.Git("tag", "v2", "master")
}

func TestQuestionsAboutReleases(t *testing.T) {
	s := newSite(t)
	s.releases("p")
	s.releases("q/r")
	for path, wants := range map[string][]string{
		"/git/new?ref2=v1":                                  {`"commits":2,"left_out":2`, `"subject":"<New>"`, `"reason":"patch_id"`},
		"/projects/q/r/git/new?ref1=v2&ref2=v1":             {`"commits":1,"left_out":1`},
		"/git/new?project=p&ref1=v2&ref2=v1&format=csv":     {"section,project,", "\nnew,p,<New>,", "\nleft_out,p,Fix,"},
		"/git/backports?branch=v1&project=p":                {`"missed":0`, "no review server is configured"},
		"/git/backports?branch=v1&from=v2&format=html":      {"<h1>Commits of v2 that v1 lacks</h1>"},
		"/git/notes?ref1=v2&ref2=v1":                        {`"first_contributions":[{"name":"New"`, `"grouped_by":"project"`},
		"/git/notes?ref1=v2&ref2=v1&format=markdown":        {"# Release notes of v2", "- \\<New\\> "},
		"/git/notes?ref1=v2&ref2=v1&group=Topic&format=csv": {"\ncommit,p,<New>,"},
		"/git/compare?ref1=v2&ref2=v1&project=p":            {`"bus_factor":1`, `"people":[{"name":"New"`},
		"/git/compare?ref1=v2&ref2=v1&limit=1&format=html":  {"People (1 of 2)", "Elephant factor"},
	} {
		res, body := s.get(path)
		if res.StatusCode != http.StatusOK || res.Header.Get("ETag") == "" {
			t.Errorf("%s: %d, ETag %q, %s", path, res.StatusCode, res.Header.Get("ETag"), body)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(string(body), want) {
				t.Errorf("%s: %q is not in\n%s", path, want, body)
			}
		}
		isPage := strings.HasPrefix(res.Header.Get("Content-Type"), "text/html")
		if isPage != strings.Contains(path, "format=html") || isPage != (res.Header.Get("Content-Security-Policy") != "") {
			t.Errorf("%s: %v", path, res.Header)
		}
		again, _ := s.get(path, "If-None-Match", res.Header.Get("ETag"))
		if again.StatusCode != http.StatusNotModified {
			t.Errorf("%s: the second time %d", path, again.StatusCode)
		}
	}
}

func TestWrongQuestionsAboutReleases(t *testing.T) {
	s := newSite(t)
	s.releases("p")
	for path, want := range map[string]struct {
		status int
		detail string
	}{
		"/git/new?ref1=v2":                                 {400, "Missing parameter ref2."},
		"/git/new?ref1=v2&ref2=v9":                         {404, "Reference v9 was not found in project p."},
		"/git/new?ref1=v2&ref2=v1&templat=x":               {400, "There is no parameter templat."},
		"/git/new?ref1=v2&ref2=--all":                      {400, ""},
		"/git/new?ref1=v2&ref2=v1&format=pdf":              {400, "Parameter format must be one of json, csv, html, markdown."},
		"/git/backports?from=v2":                           {400, "Missing parameter branch."},
		"/git/notes?ref2=v1":                               {400, "Missing parameter ref1."},
		"/git/notes?ref1=v2&ref2=v1&group=a%20b":           {400, "Parameter group is neither project nor the name of a trailer."},
		"/git/notes?ref1=v2&ref2=v1&template=x":            {400, "There are no templates: set templates in etc/repoinfo.yaml."},
		"/git/compare?ref1=v2&ref2=v1&ref3=v9":             {404, "Reference v9 was not found in project p."},
		"/git/compare?ref1=v2&ref2=v1&limit=0":             {400, "Parameter limit is not a number from 1 to 1000000."},
		"/git/compare?ref1=v2&ref2=v1&project=p&project=p": {400, "Parameter project is given 2 times."},
	} {
		if p := s.problemOf(path, want.status); !strings.HasPrefix(p.Detail, want.detail) {
			t.Errorf("%s: %s, want %s", path, p.Detail, want.detail)
		}
	}
}

// A report without picks leaves out what the other reference has under another hash.
func TestAReportWithoutPicks(t *testing.T) {
	s := newSite(t)
	s.releases("p")
	for path, want := range map[string][2]int{
		"/git/report?ref1=v2&ref2=v1":             {2, 0},
		"/git/report?ref1=v2&ref2=v1&picks=false": {1, 1},
	} {
		var r struct {
			Commits int
			Picked  int `json:"picked_commits"`
		}
		s.ok(path, &r)
		if r.Commits != want[0] || r.Picked != want[1] {
			t.Errorf("%s: %d commits, %d picked, want %v", path, r.Commits, r.Picked, want)
		}
	}
	s.problemOf("/git/report?picks=false&branch=master", 400)
}

func TestNotesByATemplateOfTheSite(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "short.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newSite(t, func(a *API) { a.Templates = release.Templates{Dir: dir} })
	s.releases("p")
	write("{{range .Groups}}{{.Name}}: {{range .Entries}}{{markdown .Subject}}{{end}}{{end}}\n")
	path := "/git/notes?ref1=v2&ref2=v1&template=short.md"
	res, body := s.get(path)
	if string(body) != "p: \\<New\\>\n" || res.Header.Get("Content-Type") != "text/markdown; charset=utf-8" {
		t.Errorf("%d %v %s", res.StatusCode, res.Header, body)
	}
	write("{{.Title}}\n") // what was kept is not the answer any more
	if _, body := s.get(path); string(body) != "Release notes of v2\n" {
		t.Errorf("after a change of the template: %s", body)
	}
	write("{{.Nothing}}\n")
	res, body = s.get(path)
	if res.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(body), "short.md:1") {
		t.Errorf("a template that cannot be used: %d %s", res.StatusCode, body)
	}
	if res, body := s.get(path + "&format=html"); res.StatusCode != http.StatusBadRequest {
		t.Errorf("with a format: %d %s", res.StatusCode, body)
	}
}
