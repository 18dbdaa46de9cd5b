package picks

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/jobs"
)

func newLister(t *testing.T) *history.Lister {
	t.Helper()
	store := jobs.Open(t.TempDir(), 64<<20, slog.New(slog.DiscardHandler))
	t.Cleanup(store.Close)
	return &history.Lister{Counts: counts.NewTable(store), Jobs: store, MessageLimit: 1 << 20}
}

func findPicks(t *testing.T, dir, ours, theirs string) *Found {
	t.Helper()
	r := history.Repo{Git: &gitcmd.Git{}, Project: "p", Dir: dir}
	found, err := Find(t.Context(), newLister(t), r, ours, theirs, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// gitEqual asks git which commits of ours have the patch of a commit of theirs. Commits that change nothing, which git
// takes for equal to each other, are left out.
func gitEqual(g *gittest.Repo, ours, theirs string) map[string]bool {
	equal := map[string]bool{}
	out := g.Git("rev-list", "--no-merges", "--left-right", "--cherry-mark", "--left-only", ours+"..."+theirs)
	empty := map[string]bool{}
	for hash := range strings.FieldsSeq(g.Git("log", "--format=%H", "--no-merges", ours, "^"+theirs)) {
		empty[hash] = true
	}
	for hash := range strings.FieldsSeq(g.Git("log", "--format=%H", "--no-merges", ours, "^"+theirs, "--", ":/")) {
		delete(empty, hash)
	}
	for line := range strings.Lines(out) {
		hash, marked := strings.CutPrefix(strings.TrimSpace(line), "=")
		if marked && !empty[hash] {
			equal[hash] = true
		}
	}
	return equal
}

// lines is a file of n lines, one of which is replaced.
func lines(n, at int, text string) string {
	var b strings.Builder
	for i := range n {
		if i == at {
			b.WriteString(text + "\n")
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// twoBranches has master and stable; each has commits that the other one has, or seems to have.
func twoBranches(t *testing.T) (g *gittest.Repo, marks map[string]int) {
	t.Helper()
	g = gittest.New(t, filepath.Join(t.TempDir(), "p.git"))
	var s gittest.Stream
	marks = map[string]int{}
	add := func(name, branch, message string, files map[string]string, more ...string) {
		c := gittest.Commit{Branch: branch, Message: message, Files: files, Lines: more}
		if branch == "stable" && marks["fork"] == 0 {
			marks["fork"] = marks["base"]
			c.Parents = []int{marks["base"]}
		}
		marks[name] = s.Add(c)
	}
	base := map[string]string{"a": lines(40, -1, ""), "b": lines(10, -1, ""), "bin": "\x00one", "gone": "x\n", "run": "#!\n"}
	add("base", "master", "Base\n", base)
	add("patch", "master", "One\n", map[string]string{"a": lines(40, 30, "changed")})
	add("blanks", "master", "Blanks\n", map[string]string{"b": lines(10, 3, "two words")})
	add("binary", "master", "Binary\n", map[string]string{"bin": "\x00two"})
	add("delete", "master", "Delete\n", map[string]string{"gone": ""})
	add("create", "master", "Create\n", map[string]string{"new": "new\n"})
	add("mode", "master", "Mode\n", nil, "M 755 inline run\ndata 3\n#!\n")
	add("empty", "master", "Empty\n", nil)
	add("other", "master", "Other\n", map[string]string{"o": "other\n"})
	add("change", "master", "Change\n\nChange-Id: I"+strings.Repeat("1", 40)+"\n", map[string]string{"c": "c\n"})

	add("first", "stable", "Other lines first\n", map[string]string{"a": "before\n" + lines(40, -1, "")})
	add("patch2", "stable", "The same, elsewhere\n", map[string]string{"a": "before\n" + lines(40, 30, "changed")})
	add("blanks2", "stable", "Blanks\n", map[string]string{"b": lines(10, 3, "two   words")})
	add("binary2", "stable", "Binary\n", map[string]string{"bin": "\x00two"})
	add("delete2", "stable", "Delete\n", map[string]string{"gone": ""})
	add("create2", "stable", "Create\n", map[string]string{"new": "new\n"})
	add("mode2", "stable", "Mode\n", nil, "M 755 inline run\ndata 3\n#!\n")
	add("empty2", "stable", "Empty\n", nil)
	add("other2", "stable", "Other content\n", map[string]string{"o": "another\n"})
	add("change2", "stable", "Picked\n\nChange-Id: I"+strings.Repeat("1", 40)+"\n", map[string]string{"d": "d\n"})
	g.Import(s.String())
	return g, marks
}

func TestPatchesAreTheSameWhereGitSaysSo(t *testing.T) {
	g, _ := twoBranches(t)
	found := findPicks(t, g.Dir, g.Head("stable"), g.Head("master"))
	equal := gitEqual(g, "stable", "master")
	if len(equal) != 6 {
		t.Fatalf("git finds %d equal commits; the repository is not what the test is about", len(equal))
	}
	byPatch := 0
	for hash, same := range found.Same {
		if same.Reason != ByPatchID {
			continue
		}
		byPatch++
		if !equal[hash] {
			t.Errorf("%s is the same only here", g.Git("log", "-1", "--format=%s", hash))
		}
	}
	if byPatch != len(equal) {
		t.Errorf("%d commits are the same by their patches, %d by git", byPatch, len(equal))
	}
	if len(found.Same) != byPatch+1 {
		t.Errorf("%d commits are the same, want one more by its Change-Id than the %d by patches", len(found.Same), byPatch)
	}
}

func TestACommitWithoutItsObjectsIsCountedAsUnread(t *testing.T) {
	g, _ := twoBranches(t)
	g.Explode()
	lost := strings.Fields(g.Git("ls-tree", "master", "bin"))[2]
	if err := os.Remove(filepath.Join(g.Dir, "objects", lost[:2], lost[2:])); err != nil {
		t.Fatal(err)
	}
	found := findPicks(t, g.Dir, g.Head("stable"), g.Head("master"))
	if found.Unread == 0 {
		t.Error("nothing is unread")
	}
	byPatch := 0
	for _, same := range found.Same {
		if same.Reason == ByPatchID {
			byPatch++
		}
	}
	if byPatch != 5 {
		t.Errorf("%d commits are the same by their patches, want all 5 that can be read", byPatch)
	}
}

func TestRevertedPicksAreGone(t *testing.T) {
	g := gittest.New(t, filepath.Join(t.TempDir(), "p.git"))
	var s gittest.Stream
	base := s.Add(gittest.Commit{Message: "Base\n", Files: map[string]string{"a": "1\n"}})
	s.Add(gittest.Commit{Message: "Fix\n", Files: map[string]string{"a": "2\n"}})
	s.Add(gittest.Commit{Branch: "stable", Parents: []int{base}, Message: "Fix\n", Files: map[string]string{"a": "2\n"}})
	g.Import(s.String())
	fix := g.Head("master")
	if same := findPicks(t, g.Dir, fix, g.Head("stable")).Same[fix]; same.Reason != ByPatchID {
		t.Fatalf("before the revert: %+v", same)
	}
	picked := g.Head("stable")
	s = gittest.Stream{}
	s.Raw("reset refs/heads/stable\nfrom " + picked + "\n\n")
	message := "Revert \"Fix\"\n\nThis reverts commit " + picked + ".\n"
	s.Add(gittest.Commit{Branch: "stable", Message: message, Files: map[string]string{"a": "1\n"}})
	g.Import(s.String())
	found := findPicks(t, g.Dir, fix, g.Head("stable"))
	if len(found.Same) != 0 || found.Gone[fix].Hash != picked || found.Dropped[picked] != g.Head("stable") {
		t.Errorf("after the revert: %+v", found)
	}
}
