//go:build peers

package reviewpeers

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/repoinfo/review"
	"ctl.internal/test/harness"
)

// awkward are branches whose names mean something in an address or in a query.
var awkward = []string{"a+b", "x{y}", `a"b`, "(x", "OR", "it's", "ünï", "stable/boron"}

// lab is the server with projects and changes in all states, and a controller.
type lab struct {
	*gerrit
	c      *harness.Controller
	merged []float64 // changes of plain's master, the last submitted first
}

// settings are those of a controller that asks the server. Nothing is kept, for the
// tests change what the server has.
func (g *gerrit) settings(more string) string {
	return fmt.Sprintf("review_url: %s\nreview: {fresh: 0s, timeout: 5s, budget: 20s%s}\nmirror: {interval: 0s, review: true}\n", g.URL, more)
}

func newLab(t *testing.T) *lab {
	l := &lab{gerrit: newGerrit(t)}
	for _, name := range []string{"plain", "a+b&c", "releng/autorelease", "café au lait", "closed"} {
		l.project(t, name)
	}
	l.call(t, "PUT", "projects/empty", object{})
	clone := l.clone(t, "plain")
	for _, b := range awkward {
		git(t, clone, "push", "--quiet", "origin", "HEAD:refs/heads/"+b)
	}
	git(t, clone, "tag", "light")
	git(t, clone, "tag", "-a", "-m", "one\ntwo", "v1")
	git(t, clone, "push", "--quiet", "origin", "--tags")
	for n := range 8 {
		number := l.change(t, clone, "master", fmt.Sprintf("Merged %d", n))
		l.merge(t, number)
		var f float64
		fmt.Sscan(number, &f)
		l.merged = append([]float64{f}, l.merged...)
	}
	l.call(t, "POST", "changes/"+l.change(t, clone, "master", "Abandoned x")+"/abandon", object{})
	l.change(t, clone, "master", "Open")
	for i, b := range awkward {
		l.merge(t, l.change(t, clone, b, "On branch "+string(rune('a'+i))))
	}
	plus := l.clone(t, "a+b&c")
	l.merge(t, l.change(t, plus, "master", "Plus"))
	var admins struct{ ID string }
	if err := json.Unmarshal(l.call(t, "GET", "groups/Administrators", nil), &admins); err != nil {
		t.Fatal(err)
	}
	only := object{"permissions": object{"read": object{"exclusive": true, "rules": object{admins.ID: object{"action": "ALLOW"}}}}}
	// All that the rules of all projects open, whatever the version.
	l.call(t, "POST", "projects/closed/access", object{"add": object{"refs/*": only, "refs/heads/*": only, "refs/tags/*": only, "refs/meta/version": only}})
	l.c = harness.Start(t, bin, map[string]string{"repoinfo.yaml": l.settings("")})
	l.c.Ctl("feature:install ctl-repoinfo")
	return l
}

// get asks the plugin and wants a status.
func (l *lab) get(t *testing.T, path string, want int) string {
	t.Helper()
	status, body, err := l.c.Get("/repoinfo"+path, "admin", "admin")
	if err != nil || status != want {
		t.Errorf("%s: %d, want %d: %.500s %v", path, status, want, body, err)
	}
	return body
}

// same wants the plugin's answer to hold what the server says itself.
func (l *lab) same(t *testing.T, path, member, direct string) {
	t.Helper()
	var got map[string][]object
	if err := json.Unmarshal([]byte(l.get(t, path, 200)), &got); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	var want []object
	if err := json.Unmarshal(l.call(t, "GET", direct, nil), &want); err != nil {
		t.Fatal(err)
	}
	// An administrator sees more: references of the server's own, and what he may do.
	want = slices.DeleteFunc(want, func(o object) bool { return strings.HasPrefix(fmt.Sprint(o["ref"]), "refs/meta/") })
	for _, o := range want {
		delete(o, "can_delete")
	}
	if diff := cmp.Diff(want, got[member]); diff != "" || len(want) == 0 {
		t.Errorf("%s: %s", path, diff)
	}
}

// numbers are the changes that the plugin lists.
func (l *lab) numbers(t *testing.T, project, branch string) (all []float64) {
	t.Helper()
	path := "/review/changes?project=" + url.QueryEscape(project)
	if branch != "" {
		path += "&branch=" + url.QueryEscape(branch)
	}
	var got struct{ Changes []object }
	body := l.get(t, path, 200)
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Errorf("%s: %v %s", path, err, body)
	}
	for _, o := range got.Changes {
		all = append(all, o["_number"].(float64))
		if _, marked := o["_more_changes"]; marked || o["status"] != "MERGED" || o["project"] != project {
			t.Errorf("%s: %v", path, o)
		}
		if _, sent := o["submittable"].(bool); !sent { // a field that the server sends only on request
			t.Errorf("%s: no submittable in %v", path, o)
		}
	}
	return all
}

func TestRealServer(t *testing.T) {
	l := newLab(t)
	open := []string{"All-Projects", "a+b&c", "café au lait", "empty", "plain", "releng/autorelease"}
	projects := func(names ...string) string {
		text, _ := json.Marshal(object{"projects": names})
		return strings.ReplaceAll(string(text), `\u0026`, "&") + "\n"
	}

	t.Run("lists", func(t *testing.T) {
		if diff := cmp.Diff(projects(open...), l.get(t, "/review/projects", 200)); diff != "" {
			t.Error(diff)
		}
		for _, p := range []string{"plain", "a+b&c", "releng/autorelease", "café au lait", "empty"} {
			l.same(t, "/review/branches?project="+url.QueryEscape(p), "branches", "projects/"+escaped(p)+"/branches/")
		}
		l.same(t, "/gerrit/tags?project=plain", "tags", "projects/plain/tags/")
		l.get(t, "/review/tags?project=empty", 200)
	})
	t.Run("changes", func(t *testing.T) {
		for _, branch := range []string{"", "master", "refs/heads/master"} {
			if diff := cmp.Diff(l.merged, l.numbers(t, "plain", branch)); diff != "" {
				t.Errorf("branch %q: %s", branch, diff)
			}
		}
		for _, branch := range awkward {
			if got := l.numbers(t, "plain", branch); len(got) != 1 {
				t.Errorf("branch %q: %v", branch, got)
			}
		}
		if got := l.numbers(t, "a+b&c", ""); len(got) != 1 {
			t.Error(got)
		}
		if got := l.numbers(t, "empty", ""); len(got) != 0 {
			t.Error(got)
		}
		l.get(t, "/review/changes?project=plain&branch=none", 404)
		l.get(t, "/review/changes?project=%5Eplai.", 400)
		for _, kind := range []string{"branches", "tags", "changes"} {
			for _, project := range []string{"none", "closed"} {
				if body := l.get(t, "/review/"+kind+"?project="+project, 404); !strings.Contains(body, "Project "+project+" was not found on the review server") {
					t.Error(body)
				}
			}
		}
	})
	t.Run("pages", func(t *testing.T) {
		limit := func(action string) {
			l.call(t, "POST", "projects/All-Projects/access", object{action: object{"GLOBAL_CAPABILITIES": object{"permissions": object{
				"queryLimit": object{"rules": object{"global:Anonymous-Users": object{"action": "ALLOW", "min": 0, "max": 3}}}}}}})
		}
		limit("add")
		defer limit("remove")
		if diff := cmp.Diff(l.merged, l.numbers(t, "plain", "")); diff != "" {
			t.Error(diff)
		}
		client, err := review.New(review.Options{URL: l.URL, Pages: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		names, err := client.Projects(t.Context())
		if diff := cmp.Diff(open, names); diff != "" || err != nil {
			t.Error(err, diff)
		}
		branches, err := client.Branches(t.Context(), "plain")
		if err != nil || len(branches) != len(awkward)+2 { // and HEAD, and master
			t.Errorf("%d branches, %v", len(branches), err)
		}
	})
	t.Run("mirror", func(t *testing.T) {
		l.c.Ctl("repoinfo:sync")
		var got struct{ Branches []string }
		if err := json.Unmarshal([]byte(l.get(t, "/git/branches?project=plain", 200)), &got); err != nil {
			t.Fatal(err)
		}
		if want := append([]string{"master"}, awkward...); len(got.Branches) != len(want) {
			t.Errorf("%q, want %q in any order", got.Branches, want)
		}
		var list struct{ Commits []object }
		if err := json.Unmarshal([]byte(l.get(t, "/git/commits?project=plain&skip=false", 200)), &list); err != nil {
			t.Fatal(err)
		}
		if n := strings.TrimSpace(must(t, filepath.Join(l.site, "git", "plain.git"), "git", "rev-list", "--count", "master")); n != fmt.Sprint(len(list.Commits)) {
			t.Errorf("%d commits, git says %s", len(list.Commits), n)
		}
		l.get(t, "/git/commits?project=closed", 404)
	})
	t.Run("credentials", func(t *testing.T) {
		set := func(more string) {
			l.c.Restart(func() {
				if err := os.WriteFile(filepath.Join(l.c.Home, "etc", "repoinfo.yaml"), []byte(l.settings(more)), 0o600); err != nil {
					t.Fatal(err)
				}
			})
		}
		set(", username: admin, password: secret")
		all := append([]string{"closed"}, open...)
		slices.Sort(all)
		if diff := cmp.Diff(projects(all...), l.get(t, "/review/projects", 200)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(l.merged, l.numbers(t, "plain", "")); diff != "" {
			t.Error(diff)
		}
		l.get(t, "/review/branches?project=closed", 200)
		l.c.Ctl("repoinfo:sync closed")
		l.get(t, "/git/commits?project=closed", 200)
		set(", username: admin, password: wrong")
		if body := l.get(t, "/review/projects", 502); !strings.Contains(body, "check review.username and review.password") || strings.Contains(l.c.Log(), "wrong") {
			t.Error(body)
		}
		set("")
	})
	t.Run("faults", func(t *testing.T) {
		l.signal(t, syscall.SIGSTOP)
		l.get(t, "/review/projects", 504)
		l.signal(t, syscall.SIGCONT)
		l.stop(t)
		l.get(t, "/review/changes?project=plain", 502)
		l.get(t, "/git/branches?project=plain", 200)
		l.serve(t)
		if diff := cmp.Diff(l.merged, l.numbers(t, "plain", "")); diff != "" {
			t.Error(diff)
		}
	})
}
