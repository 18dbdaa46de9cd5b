package review

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/sdk/fault"
)

// What a server of version 3.9.1 answered to these very questions, its query limit
// being 5: names that need quoting, HEAD, lightweight and nested tags, pages.
func TestRecordedServer(t *testing.T) {
	const merged = "/changes/?q=status%3Amerged+project%3A%22netconf%22+branch%3A%22master%22&o=SUBMITTABLE&n="
	answers := map[string]string{
		"/projects/?n=3":                    "projects-S0.json",
		"/projects/a%2Bb&c/branches/?n=500": "plus-branches.json",
		"/projects/empty/branches/?n=500":   "empty-branches.json",
		"/projects/netconf/branches/?n=500": "branches.json",
		"/projects/netconf/tags/?n=500":     "tags.json",
		merged + "500":                      "changes-S0.json",
		strings.Replace(merged, "%22master%22", "%7Ba%22b%7D", 1) + "500": "changes-quote.json",
	}
	for s := 2; s <= 10; s += 2 {
		answers[fmt.Sprintf("/projects/?n=3&S=%d", s)] = fmt.Sprintf("projects-S%d.json", s)
	}
	for s := 4; s <= 24; s += 4 {
		answers[fmt.Sprintf("%s500&S=%d", merged, s)] = fmt.Sprintf("changes-S%d.json", s)
	}
	srv := play(t, "v3.9", answers)
	names, err := client(t, Options{URL: srv.URL, Pages: 3}).Projects(t.Context())
	want := []string{"All-Projects", "a+b&c", "café", "dot", "empty", "it's", "netconf", "p(q)", "releng/autorelease", "with blank", "x{y}"}
	if diff := cmp.Diff(want, names); diff != "" || err != nil {
		t.Errorf("projects: %v %s", err, diff)
	}
	c := client(t, Options{URL: srv.URL})
	for _, row := range [][2]string{{"a+b&c", "plus-branches.json"}, {"empty", "empty-branches.json"}, {"netconf", "branches.json"}} {
		got, err := c.Branches(t.Context(), row[0])
		if diff := cmp.Diff(objects(t, "v3.9/"+row[1]), values(t, got)); diff != "" || err != nil {
			t.Errorf("branches of %s: %v %s", row[0], err, diff)
		}
	}
	tags, err := c.Tags(t.Context(), "netconf")
	if diff := cmp.Diff(objects(t, "v3.9/tags.json"), values(t, tags)); diff != "" || err != nil {
		t.Errorf("tags: %v %s", err, diff)
	}
	for _, branch := range []string{"", "master"} {
		changes, err := c.Changes(t.Context(), "netconf", branch)
		if err != nil {
			t.Fatal(err)
		}
		got := values(t, changes)
		if len(got) != 28 || got[0]["_number"] != 37.0 || got[27]["_number"] != 1.0 {
			t.Errorf("branch %q: %d changes", branch, len(got))
		}
		for _, change := range got {
			if _, marked := change["_more_changes"]; marked || change["status"] != "MERGED" {
				t.Errorf("%v", change)
			}
		}
	}
	if quoted, err := c.Changes(t.Context(), "netconf", `a"b`); err != nil || len(quoted) != 1 {
		t.Errorf("a branch with a quote: %v %s", err, quoted)
	}
}

// An empty list of changes says nothing of what exists.
func TestNoChanges(t *testing.T) {
	branches := map[string]string{"master": "", "main/branches/HEAD": "main", "main/branches/main": "00", "bare/branches/HEAD": "master", "x/branches/a/b": "00"}
	srv := served(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query().Get("q")
		name, _ := strings.CutPrefix(r.URL.Path, "/projects/")
		revision, known := branches[name]
		switch {
		case strings.Contains(q, `project:"main" branch:"main"`):
			fmt.Fprint(w, `[{"_number":1}]`)
		case q != "":
			fmt.Fprint(w, "[]")
		case known:
			fmt.Fprintf(w, `{"ref":"x","revision":%q}`, revision)
		case name == "main" || name == "bare" || name == "x":
			fmt.Fprint(w, "{}")
		default:
			http.Error(w, "Not found: x", 404)
		}
	})
	c := client(t, Options{URL: srv.URL})
	for _, row := range []struct {
		project, branch, text string
		changes               int
	}{
		{"main", "", "", 1},
		{"main", "master", "branch master was not found in project main", 0},
		{"bare", "", "", 0},
		{"x", "a/b", "", 0},
		{"x", "a", "branch a was not found in project x", 0},
		{"y", "", "project y was not found", 0},
		{"y", "master", "project y was not found", 0},
	} {
		got, err := c.Changes(t.Context(), row.project, row.branch)
		switch {
		case row.text == "" && (err != nil || got == nil || len(got) != row.changes):
			t.Errorf("%s %q: %s, %v", row.project, row.branch, got, err)
		case row.text != "" && (fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), row.text)):
			t.Errorf("%s %q: %v, want %q", row.project, row.branch, err, row.text)
		}
	}
}

// Open changes are asked for by their state; a branch that the server does not know has none.
func TestOpenChanges(t *testing.T) {
	srv := served(t, func(w http.ResponseWriter, r *http.Request) {
		switch q := r.URL.Query().Get("q"); q {
		case `status:open project:"p" branch:"stable/1"`:
			fmt.Fprint(w, `[{"_number":7,"change_id":"Iab","status":"NEW"}]`)
		case `status:open project:"p" branch:"none"`:
			fmt.Fprint(w, "[]")
		default:
			t.Errorf("asked %q", q)
			http.Error(w, "x", http.StatusBadRequest)
		}
	})
	c := client(t, Options{URL: srv.URL})
	for branch, want := range map[string]int{"stable/1": 1, "none": 0} {
		got, err := c.OpenChanges(t.Context(), "p", branch)
		if err != nil || len(got) != want {
			t.Errorf("%s: %s, %v", branch, got, err)
		}
	}
	for _, row := range [][2]string{{"^p", "master"}, {"p", "-x"}, {"../p", "master"}} {
		if _, err := c.OpenChanges(t.Context(), row[0], row[1]); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", row, err)
		}
	}
}
