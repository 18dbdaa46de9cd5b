package history

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
)

func TestMissingObjectLosesOnlyItsOwnCounts(t *testing.T) {
	g := gittest.Long(t, filepath.Join(t.TempDir(), "l.git"), 300)
	lost := g.Head("master~100")
	blob := strings.Fields(strings.TrimSpace(g.Git("diff-tree", "-r", "--no-commit-id", lost)))[3]
	g.Explode()
	if err := os.Remove(filepath.Join(g.Dir, "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	l := lister(t)
	r := Repo{Git: &gitcmd.Git{}, Project: "l", Dir: g.Dir}
	for range 2 {
		got, res := list(t, l, r, Query{Tip: g.Head("master"), Stats: true})
		if len(got) != 300 || res.Unknown == 0 || res.Unknown > 2 {
			t.Fatalf("%d commits, %d unknown", len(got), res.Unknown)
		}
		for _, c := range got {
			if c.Hash == lost && c.Lines != nil {
				t.Error("counts of a commit without its blob")
			}
		}
	}
}

func TestAPartialCloneIsNotFetchedPieceByPiece(t *testing.T) {
	origin := gittest.Long(t, filepath.Join(t.TempDir(), "o.git"), 120)
	origin.Git("config", "uploadpack.allowFilter", "true")
	for _, filter := range []string{"blob:none", "tree:0"} {
		dir := filepath.Join(t.TempDir(), "partial.git")
		origin.Git("clone", "--quiet", "--bare", "--filter="+filter, "file://"+origin.Dir, dir)
		count := func() int {
			files, err := filepath.Glob(filepath.Join(dir, "objects", "*", "*"))
			if err != nil {
				t.Fatal(err)
			}
			return len(files)
		}
		before := count()
		got, res := list(t, lister(t), Repo{Git: &gitcmd.Git{}, Project: "partial", Dir: dir}, Query{Tip: origin.Head("master"), Stats: true})
		if len(got) != 120 || res.Unknown != 120 || count() != before {
			t.Errorf("%s: %d commits, %d unknown, %d files, then %d", filter, len(got), res.Unknown, before, count())
		}
	}
}

// A clone of yesterday without contents, with all of today: only the old commits are unknown.
func TestOlderCommitsAreCountedAfterManyThatCannotBe(t *testing.T) {
	g := gittest.Long(t, filepath.Join(t.TempDir(), "l.git"), 600)
	var lost []string
	for line := range strings.Lines(g.Git("log", "--format=", "--raw", "--no-abbrev", "--max-count=300", "master")) {
		lost = append(lost, strings.Fields(line)[3])
	}
	g.Explode()
	for _, blob := range lost {
		if err := os.Remove(filepath.Join(g.Dir, "objects", blob[:2], blob[2:])); err != nil {
			t.Fatal(err)
		}
	}
	got, res := list(t, lister(t), Repo{Git: &gitcmd.Git{}, Project: "l", Dir: g.Dir}, Query{Tip: g.Head("master"), Stats: true})
	if len(got) != 600 || res.Unknown != 300 {
		t.Fatalf("%d commits, %d unknown", len(got), res.Unknown)
	}
	for i, c := range got {
		if (c.Lines == nil) != (i < 300) {
			t.Fatalf("commit %d: %+v", i, c.Lines)
		}
	}
}
