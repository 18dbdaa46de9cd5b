package review

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/sdk/fault"
)

// objects reads a recorded array as values, so that nothing may be lost or added.
func objects(t *testing.T, name string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(data[len(prefix):], &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func values(t *testing.T, raw []json.RawMessage) []map[string]any {
	t.Helper()
	list := []map[string]any{}
	for _, r := range raw {
		var o map[string]any
		if err := json.Unmarshal(r, &o); err != nil {
			t.Fatal(err)
		}
		list = append(list, o)
	}
	return list
}

func TestOldServer(t *testing.T) {
	srv := play(t, "v2", map[string]string{
		"/projects/?n=500": "projects.json",
		"/projects/releng%2Fautorelease/branches/?n=500":                                                    "branches.json",
		"/projects/netconf/tags/?n=500":                                                                     "tags.json",
		"/changes/?q=status%3Amerged+project%3A%22netconf%22+branch%3A%22master%22&o=SUBMITTABLE&n=500":     "changes-1.json",
		"/changes/?q=status%3Amerged+project%3A%22netconf%22+branch%3A%22master%22&o=SUBMITTABLE&n=500&S=1": "changes-2.json",
	})
	c := client(t, Options{URL: srv.URL})
	names, err := c.Projects(t.Context())
	if diff := cmp.Diff([]string{"All-Projects", "netconf", "releng/autorelease"}, names); diff != "" || err != nil {
		t.Errorf("projects: %v %s", err, diff)
	}
	branches, err := c.Branches(t.Context(), "releng/autorelease")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(objects(t, "v2/branches.json"), values(t, branches)); diff != "" {
		t.Error(diff)
	}
	tags, err := c.Tags(t.Context(), "netconf")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(objects(t, "v2/tags.json"), values(t, tags)); diff != "" {
		t.Error(diff)
	}
	changes, err := c.Changes(t.Context(), "netconf", "master")
	if err != nil {
		t.Fatal(err)
	}
	want := append(objects(t, "v2/changes-1.json"), objects(t, "v2/changes-2.json")[1]) // the repeated one once
	delete(want[1], "_more_changes")
	if diff := cmp.Diff(whole(want), values(t, changes)); diff != "" {
		t.Error(diff)
	}
}

// whole gives changes the member that the server leaves out where it is false.
func whole(changes []map[string]any) []map[string]any {
	for _, c := range changes {
		if c["submittable"] == nil {
			c["submittable"] = false
		}
	}
	return changes
}

func TestNewServer(t *testing.T) {
	srv := play(t, "v3", map[string]string{
		"/r/a/projects/?n=2":                    "projects-1.json",
		"/r/a/projects/?n=2&S=1":                "projects-2.json",
		"/r/a/projects/?n=2&S=2":                "projects-3.json",
		"/r/a/projects/c%2Fd/branches/?n=2":     "branches.json",
		"/r/a/projects/c%2Fd/branches/?n=2&S=1": "branches.json", // a server that ignores S
		"/r/a/projects/c%2Fd/tags/?n=2":         "tags.json",
		"/r/a/projects/c%2Fd/tags/?n=2&S=1":     "tags.json",
		"/r/a/changes/?q=status%3Amerged+project%3A%22c%2Fd%22+branch%3A%22main%22&o=SUBMITTABLE&n=2": "changes.json",
	})
	c := client(t, Options{URL: srv.URL + "/r/", Username: "u", Password: "p", Pages: 2})
	names, err := c.Projects(t.Context())
	if diff := cmp.Diff([]string{"a", "b", "c/d"}, names); diff != "" || err != nil {
		t.Errorf("projects: %v %s", err, diff)
	}
	branches, err := c.Branches(t.Context(), "c/d")
	if diff := cmp.Diff(objects(t, "v3/branches.json"), values(t, branches)); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	tags, err := c.Tags(t.Context(), "c/d")
	if diff := cmp.Diff(objects(t, "v3/tags.json"), values(t, tags)); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	changes, err := c.Changes(t.Context(), "c/d", "main")
	if diff := cmp.Diff(whole(objects(t, "v3/changes.json")), values(t, changes)); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := c.Tags(t.Context(), "unknown"); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "project unknown was not found on the review server") {
		t.Errorf("an unknown project: %v", err)
	}
}

func TestNothingIsSmuggledIntoAQuery(t *testing.T) {
	srv := play(t, "v2", nil)
	c := client(t, Options{URL: srv.URL})
	for _, row := range [][2]string{{`x" OR owner:"self`, "master"}, {"x", `m" OR status:open`}, {"../x", "master"}, {"x", "a..b"}, {"x", `"{`}, {`"x"`, ""}, {"^x.", "master"}} {
		if _, err := c.Changes(t.Context(), row[0], row[1]); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", row, err)
		}
	}
	if n := srv.asked.Load(); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
}

func TestWithoutKeepsTheRest(t *testing.T) {
	got, err := withoutMember(json.RawMessage(`{"b":1.50,"_more_changes":true,"a":{"_more_changes":1},"é":"<\u00e9>"}`), "_more_changes")
	if want := `{"b":1.50,"a":{"_more_changes":1},"é":"<\u00e9>"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func FuzzPages(f *testing.F) {
	f.Add([]byte(`[{"ref":"x","_more_changes":true}]`))
	f.Add([]byte(")]}'\n{\"a\":{\"_more_projects\":true}}"))
	f.Add([]byte(`[null,1,"x"]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		body, err := stripJSONPrefix("application/json", body)
		if err != nil {
			return
		}
		_, _ = projectPage(body)
		page, _ := arrayPage(func(m *member) string { return m.Ref })(body)
		for _, o := range page {
			if !json.Valid(o.raw) {
				t.Errorf("not JSON: %s", o.raw)
			}
		}
	})
}

func TestCloneURL(t *testing.T) {
	c := client(t, Options{URL: "https://review.example.org/r", Username: "u", Password: "p"})
	for project, want := range map[string]string{"netconf": "netconf", "a/b/c": "a/b/c", "a b/ü;c,d+e": "a%20b/%C3%BC%3Bc%2Cd+e"} {
		if got := c.CloneURL(project); got != "https://review.example.org/r/a/"+want {
			t.Errorf("%q: %s", project, got)
		}
	}
}
