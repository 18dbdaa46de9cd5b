package api

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"golang.org/x/sys/unix"

	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/report"
	"ctl.internal/sdk/caller"
)

func TestReports(t *testing.T) {
	s := newSite(t)
	s.zoo("zoo")
	s.zoo("a/zoo")
	gittest.New(t, filepath.Join(s.dir, "empty.git"))
	var all, one report.Report
	res := s.ok("/git/report", &all)
	s.ok("/projects/a/zoo/git/report", &one)
	if all.Commits != 2*one.Commits || all.Compared != 2 || len(all.Failed) != 1 || len(all.Projects) != 2 || len(one.Projects) != 1 {
		t.Errorf("%d commits of %d projects, %d of one", all.Commits, all.Compared, one.Commits)
	}
	if again, _ := s.get("/git/report", "If-None-Match", res.Header.Get("ETag")); again.StatusCode != 304 || res.Header.Get("ETag") == "" {
		t.Errorf("%d for the version that is known", again.StatusCode)
	}
	for path, member := range map[string]string{"timeline": "timeline", "authors": "authors", "organizations": "organizations",
		"contributors": "contributors", "activity": "activity", "files": "directories"} {
		var got map[string]any
		s.ok("/git/"+path+"?project=zoo,a/zoo&ref1=master&ref2=stable/boron&interval=week&merge_lines=true", &got)
		if got[member] == nil || got["projects"] != nil || got["ref1"] != "master" || got["merge_lines"] != true {
			t.Errorf("%s: %v", path, got)
		}
	}
	res, body := s.get("/git/authors?format=csv&since=2017-01-01&until=2017-12-31")
	rows, err := csv.NewReader(strings.NewReader(string(body))).ReadAll()
	if err != nil || res.Header.Get("Content-Type") != "text/csv; charset=utf-8" || len(rows) < 5 || rows[2][0] != "author" {
		t.Errorf("%v %v %s", err, res.Header, body)
	}
	res, body = s.get("/git/report?format=html")
	if res.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(res.Header.Get("Content-Security-Policy"), "default-src 'none'") ||
		!strings.Contains(string(body), "<svg") || strings.Contains(string(body), "<script") || strings.Contains(string(body), "http") {
		t.Errorf("%v %s", res.Header, body)
	}
}

func TestReportsThatAreRefused(t *testing.T) {
	s := newSite(t)
	if p := s.problemOf("/git/report", 404); !strings.Contains(p.Detail, s.dir) {
		t.Error(p.Detail)
	}
	s.zoo("zoo")
	s.zoo("b")
	for path, status := range map[string]int{
		"/git/report?ref1=master": 400, "/git/report?ref1=a&ref2=b&branch=c": 400, "/git/report?interval=decade": 400, "/git/report?new=x": 400, "/git/report?machines=*": 400, "/git/report?format=pdf": 400,
		"/git/report?project=zoo,,b": 400, "/git/report?project=../x": 400, "/git/report?branch=nope": 404, "/git/report?project=nope": 404,
		"/git/report?ref1=master&ref2=u": 409, "/git/report?branch=--all": 400, "/git/files?limit=0": 400,
	} {
		s.problemOf(path, status)
	}
	if p := s.problemOf("/git/report?branch=nope", 404); !strings.Contains(p.Detail, "2 projects failed; b: branch nope was not found in project b; zoo: ") {
		t.Error(p.Detail)
	}
}

// A report refuses parameters that it does not have, with the nearest; lists let those of older clients pass.
func TestUnknownParametersOfReports(t *testing.T) {
	s := newSite(t)
	s.zoo("zoo")
	for _, path := range []string{"report", "timeline", "authors", "organizations", "contributors", "activity", "files"} {
		p := s.problemOf("/git/"+path+"?project=zoo&organisation=x", 400)
		if p.Parameter != "organisation" || !strings.Contains(p.Detail, `did you mean "organization"`) {
			t.Errorf("%s: %+v", path, p)
		}
		s.problemOf("/projects/zoo/git/"+path+"?no_cache=1", 400)
	}
	s.ok("/git/commits?project=zoo&no_cache=1", &map[string]any{})
}

// The sums of a CSV answer are whole, and a list that is cut says of how many.
func TestCutLists(t *testing.T) {
	s := newSite(t)
	s.zoo("zoo")
	var whole, cut report.Report
	s.ok("/git/authors", &whole)
	s.ok("/git/authors?limit=2", &cut)
	if len(cut.Authors) != 2 || cut.Sizes["authors"] != len(whole.Authors) || cut.People != whole.People {
		t.Errorf("%d authors, sizes %v", len(cut.Authors), cut.Sizes)
	}
	sum := func(path string) (commits int) {
		_, body := s.get(path)
		rows, err := csv.NewReader(strings.NewReader(string(body))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row[0] == "author" {
				n, err := strconv.Atoi(row[5])
				if err != nil {
					t.Fatal(err)
				}
				commits += n
			}
		}
		return commits
	}
	if a, b := sum("/git/authors?format=csv"), sum("/git/authors?format=csv&limit=2"); a != b || a == 0 {
		t.Errorf("the rows of authors sum up to %d, and to %d where the list is cut", a, b)
	}
	_, body := s.get("/git/authors?limit=2&format=html")
	if want := fmt.Sprintf("Authors (2 of %d)", len(whole.Authors)); !strings.Contains(string(body), want) {
		t.Errorf("the page does not say %q", want)
	}
}

func TestAProjectInThePath(t *testing.T) {
	s := newSite(t)
	s.zoo("a/b/zoo")
	var query, path page
	s.ok("/git/commits?project=a/b/zoo&limit=3", &query)
	res := s.ok("/projects/a/b/zoo/git/commits?limit=3", &path)
	if len(path.Commits) != 3 || path.Commits[2] != query.Commits[2] {
		if fmt.Sprint(path.hashes()) != fmt.Sprint(query.hashes()) {
			t.Errorf("%v and %v", path.hashes(), query.hashes())
		}
	}
	next := follow(t, "/projects/a/b/zoo/git/commits", res.Header.Get("Link"))
	s.ok(next, &path)
	if len(path.Commits) != 3 || path.Commits[0].Hash == query.Commits[0].Hash {
		t.Errorf("the second page: %v", path.hashes())
	}
	for p, status := range map[string]int{
		"/projects/a%2Fb%2Fzoo/git/commits": 404, "/projects/git/commits": 404, "/projects/a/b/zoo": 404, "/projects/nope/git/commits": 404,
		"/projects/a/b/zoo/git/nothing": 404, "/projects/a/b/zoo/review/projects": 404, "/projects/a/b/zoo/git/commits?project=a/b/zoo": 400,
		"/projects/a/../b/zoo/git/commits": 400, "/projects/a/b/zoo/gerrit/tags": 503,
	} {
		s.problemOf(p, status)
	}
	s.PathsOnly = true
	s.ok("/projects/a/b/zoo/git/branches", &map[string]any{})
	if p := s.problemOf("/git/branches?project=a/b/zoo", 403); !strings.Contains(p.Detail, "/projects/NAME/git/branches") {
		t.Error(p.Detail)
	}
}

func TestClosedReferences(t *testing.T) {
	s := newSite(t)
	g := s.zoo("zoo")
	draft := strings.TrimSpace(g.Git("commit-tree", "-m", "draft", "master^{tree}"))
	g.Git("update-ref", "refs/changes/01/1/1", draft)
	s.problemOf("/git/commits?project=zoo&branch=refs/changes/01/1/1", 403)
	s.problemOf("/git/commits?project=zoo&branch="+draft, 404)
	s.problemOf("/git/report?project=zoo&branch=refs/changes/01/1/1", 403)
}

func TestTheVersionCoversAttributesAndGrafts(t *testing.T) {
	s := newSite(t)
	g := s.zoo("zoo")
	seen := map[string]string{}
	for _, change := range []struct{ file, text string }{{"info/exclude", ""}, {"info/attributes", "*.txt binary\n"}, {"info/attributes", ""}, {"info/grafts", g.Head("master") + "\n"}} {
		if err := os.MkdirAll(filepath.Join(g.Dir, "info"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(g.Dir, change.file), []byte(change.text), 0o644); err != nil {
			t.Fatal(err)
		}
		res, body := s.get("/git/commits?project=zoo")
		tag := res.Header.Get("ETag")
		if before, known := seen[tag]; res.StatusCode != 200 || (known && before != string(body)) || (!known && len(seen) > 0 && before == string(body)) {
			t.Errorf("after %+v: %d %s", change, res.StatusCode, tag)
		}
		seen[tag] = string(body)
	}
	if len(seen) != 3 {
		t.Errorf("%d versions of three answers", len(seen))
	}
}

// as asks as a user.
func as(h http.Handler, user, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(caller.With(r.Context(), caller.Caller{User: user, Domain: "sdn"})))
	return w
}

// Forty questions of eve need counts that do not come; bob's is answered all the same,
// and eve gets no further ones into the queue.
func TestManyLargeQuestionsHoldUpNoOtherUser(t *testing.T) {
	s := newSite(t)
	s.Turns.Waiting = 40
	s.zoo("small")
	gittest.Long(t, filepath.Join(s.dir, "large.git"), 300)
	dir := t.TempDir()
	gate, script := filepath.Join(dir, "gate"), filepath.Join(dir, "git")
	text := "#!/bin/sh\ncase \"$*\" in *large.git*diff-tree*) cat " + gate + ";; esac\nexec git \"$@\"\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	s.git().Path = script
	h := s.Handler()
	var eve sync.WaitGroup
	codes := make(chan int, 100)
	for i := range 50 {
		eve.Go(func() {
			codes <- as(h, "eve", fmt.Sprintf("/git/commits?project=large&until=%d", 1_600_000_000+i)).Code
		})
	}
	for range 6 { // 4 begin, 40 wait, 6 are refused
		if code := <-codes; code != http.StatusTooManyRequests {
			t.Errorf("refused with %d", code)
		}
	}
	for _, path := range []string{"/git/commits?project=small", "/git/authors?project=small", "/git/branches?project=large", "/git/commits?project=large&stats=false"} {
		if w := as(h, "bob", path); w.Code != 200 {
			t.Errorf("bob: %s %d %s", path, w.Code, w.Body)
		}
	}
	s.Turns.Total = 1
	if w := as(h, "carol", "/git/commits?project=small&limit=1"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("carol: %d %v", w.Code, w.Header())
	}
	open, err := os.OpenFile(gate, os.O_RDWR, 0) // readers that come later find it open, and its end once we close it
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(gate, gate+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
	eve.Wait()
	for range 44 {
		if code := <-codes; code != 200 {
			t.Errorf("eve: %d", code)
		}
	}
}

func TestTheDocumentCoversAllPaths(t *testing.T) {
	s := newSite(t)
	s.zoo("zoo")
	_, body := s.get("/openapi.json")
	doc, err := openapi3.NewLoader().LoadFromData(body)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableSchemaPatternValidation()); err != nil && !strings.Contains(err.Error(), "3.1") {
		t.Error(err)
	}
	for _, e := range listEndpoints() {
		if e.schema == "" {
			continue
		}
		item := doc.Paths.Value(e.path)
		if item == nil {
			t.Errorf("%s is missing", e.path)
			continue
		}
		schema := item.Get.Responses.Value("200").Value.Content["application/json"].Schema
		if schema.Value == nil || len(item.Get.Parameters) != len(e.params) {
			t.Errorf("%s: %v", e.path, item.Get)
		}
		if !strings.HasPrefix(e.path, "/git/") || e.path == "/git/project_info" {
			continue
		}
		query := "?project=zoo&ref1=master&ref2=two"
		if e.path == "/git/backports" {
			query = "?project=zoo&from=master&branch=two"
		}
		_, answer := s.get(e.path + query)
		var value any
		if err := json.Unmarshal(answer, &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Value.VisitJSON(value); err != nil {
			t.Errorf("%s: %v", e.path, err)
		}
		for name := range value.(map[string]any) {
			if schema.Value.Properties[name] == nil {
				t.Errorf("%s: the member %s is not in the document", e.path, name)
			}
		}
	}
}
