package history

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/sdk/fault"
)

func TestViewChangesWithWhatChangesTheAnswer(t *testing.T) {
	g := gittest.Long(t, filepath.Join(t.TempDir(), "l.git"), 10)
	r := Repo{Git: &gitcmd.Git{}, Project: "l", Dir: g.Dir}
	l := lister(t)
	seen := map[string]string{}
	look := func(name string, commits, insertions int) {
		t.Helper()
		view, err := r.View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if other, known := seen[view]; known {
			t.Errorf("%s has the view of %s", name, other)
		}
		seen[view] = name
		got, _ := list(t, l, r, Query{Tip: g.Head("master"), View: view, Stats: true})
		sum := 0
		for _, c := range got {
			if c.Lines != nil {
				sum += c.Lines.Insertions
			}
		}
		if len(got) != commits || sum != insertions {
			t.Errorf("%s: %d commits with %d insertions, want %d with %d", name, len(got), sum, commits, insertions)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(g.Dir, "info"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(g.Dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	look("plain", 10, 19)
	write("info/attributes", "* binary\n")
	look("attributes", 10, 0)
	write("info/attributes", "")
	write("info/grafts", g.Head("master~3")+"\n")
	look("grafts", 4, 3*2+6*2+1)
	write("info/grafts", "")
	write("shallow", g.Head("master~5")+"\n")
	look("shallow", 6, 10)
	if err := os.Remove(filepath.Join(g.Dir, "shallow")); err != nil {
		t.Fatal(err)
	}
	g.Git("replace", "--graft", g.Head("master~1"), g.Head("master~8"))
	look("replaced", 4, 2+7*2+2+1)
}

func TestClosedReferences(t *testing.T) {
	g := gittest.Long(t, filepath.Join(t.TempDir(), "l.git"), 5)
	secret := strings.TrimSpace(g.Git("commit-tree", "-m", "draft", "-p", "master", "master^{tree}"))
	for _, ref := range []string{"refs/changes/01/1/1", "refs/meta/config", "refs/notes/x", "refs/users/1"} {
		g.Git("update-ref", ref, secret)
	}
	r := Repo{Git: &gitcmd.Git{}, Project: "l", Dir: g.Dir}
	for _, ref := range []string{"refs/changes/01/1/1", "refs/meta/config", "refs/notes/x", "refs/users/1"} {
		if _, err := r.Resolve(t.Context(), "branch", ref); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "all_refs") {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for _, ref := range []string{secret, secret[:12]} {
		if _, err := r.Resolve(t.Context(), "branch", ref); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a hash that only a closed reference leads to: %v", err)
		}
	}
	if got, err := r.Resolve(t.Context(), "branch", g.Head("master~3"), "refs/heads/master"); err != nil || got[0] != g.Head("master~3") {
		t.Errorf("%v %v", got, err)
	}
	r.AllRefs = true
	if got, err := r.Resolve(t.Context(), "branch", "refs/meta/config", secret); err != nil || got[0] != secret || got[1] != secret {
		t.Errorf("%v %v", got, err)
	}
}
