//go:build peers

package reviewpeers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/test/harness"
)

// backports is the part of an answer that the test compares.
type backports struct {
	Missed   int
	Projects []struct {
		Review string
		Missed []struct {
			Subject  string
			ChangeID string `json:"change_id"`
			Reasons  []struct {
				Kind, URL string
				Change    int
			}
		}
	}
}

// commitChange commits a file for review and returns the number of the change.
func (g *gerrit) commitChange(t *testing.T, clone, branch, subject, trailers string) string {
	t.Helper()
	git(t, clone, "fetch", "--quiet", "origin")
	git(t, clone, "checkout", "--quiet", "-B", "work", "origin/"+branch)
	if err := os.WriteFile(filepath.Join(clone, escaped(subject)), []byte(subject+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, clone, "add", ".")
	git(t, clone, "commit", "--quiet", "-m", subject+"\n\n"+trailers+"\n")
	out := git(t, clone, "push", "origin", "HEAD:refs/for/"+branch)
	for word := range strings.FieldsSeq(out) {
		if strings.HasPrefix(word, g.URL) {
			return word[strings.LastIndex(word, "/")+1:]
		}
	}
	t.Fatalf("the push names no change:\n%s", out)
	return ""
}

// A change that is picked to a branch by the server is a missed backport until it is merged there; then it is not new.
func TestBackportsOnARealServer(t *testing.T) {
	g := newGerrit(t)
	g.project(t, "p")
	clone := g.clone(t, "p")
	shared := strings.TrimSpace(git(t, clone, "rev-parse", "HEAD"))
	git(t, clone, "push", "--quiet", "origin", "HEAD:refs/heads/stable")
	id := func(digit string) string { return "Change-Id: I" + strings.Repeat(digit, 40) }
	picked := g.commitChange(t, clone, "master", "Picked", id("1"))
	g.merge(t, picked)
	g.merge(t, g.commitChange(t, clone, "master", "Repair", "Fixes: "+shared[:12]+"\n"+id("2")))
	g.merge(t, g.commitChange(t, clone, "master", "Only here", id("3")))
	var backport struct {
		Number int `json:"_number"`
	}
	pick := object{"destination": "stable", "message": "Picked\n\n" + id("1") + "\n"}
	answer := g.call(t, "POST", "changes/"+picked+"/revisions/current/cherrypick", pick)
	if err := json.Unmarshal(answer, &backport); err != nil {
		t.Fatal(err)
	}
	c := harness.Start(t, bin, map[string]string{"repoinfo.yaml": g.settings("")})
	c.Ctl("feature:install ctl-repoinfo")
	c.Ctl("repoinfo:sync")
	l := &lab{gerrit: g, c: c}

	ask := func() (b backports) {
		t.Helper()
		body := l.get(t, "/git/backports?project=p&branch=stable", 200)
		if err := json.Unmarshal([]byte(body), &b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := ask()
	if b.Missed != 2 || b.Projects[0].Review != "asked" {
		t.Fatalf("before: %+v", b)
	}
	repair, open := b.Projects[0].Missed[0], b.Projects[0].Missed[1]
	if repair.Subject != "Repair" || repair.Reasons[0].Kind != "fixes" {
		t.Errorf("%+v", repair)
	}
	if open.Reasons[0].Kind != "change_open" || open.Reasons[0].Change != backport.Number {
		t.Errorf("%+v, want change %d", open, backport.Number)
	}
	if want := g.URL + "q/" + open.ChangeID; open.Reasons[0].URL != want {
		t.Errorf("link %s, want %s", open.Reasons[0].URL, want)
	}
	g.merge(t, fmt.Sprint(backport.Number))
	c.Ctl("repoinfo:sync")
	if b := ask(); b.Missed != 1 || b.Projects[0].Missed[0].Subject != "Repair" {
		t.Errorf("after: %+v", b)
	}
	body := l.get(t, "/git/new?project=p&ref1=master&ref2=stable", 200)
	for _, want := range []string{`"commits":2,"left_out":1`, `"reason":"change_id"`, `"change_url":"` + g.URL + "q/I1111"} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
}
