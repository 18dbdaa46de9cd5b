package history

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
)

func TestHashesAreResolvedAndFoundInAHistory(t *testing.T) {
	g := gittest.Long(t, filepath.Join(t.TempDir(), "l.git"), 20)
	r := Repo{Git: &gitcmd.Git{}, Project: "l", Dir: g.Dir}
	old, recent := g.Head("master~15"), g.Head("master~3")
	g.Git("branch", old[:9], "master") // a branch with the name of another commit's hash
	full, err := r.ResolveHashes(t.Context(), []string{recent[:10], "0000000", old[:9]})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{recent[:10]: recent}, full); diff != "" {
		t.Error(diff)
	}
	contained, err := r.Contains(t.Context(), g.Head("master~10"), []string{old, recent})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]bool{old: true}, contained); diff != "" {
		t.Error(diff)
	}
}
