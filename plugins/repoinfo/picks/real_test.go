package picks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/plugins/repoinfo/gittest"
)

// realPairs are branches of real repositories that were picked from and to.
var realPairs = []struct{ project, ours, theirs string }{
	{"aaa", "master", "stable/carbon"},
	{"aaa", "0.20.x", "master"},
	{"mdsal", "13.0.x", "master"},
	{"ovs", "branch-2.16", "branch-2.17"},
	{"ovs", "v3.1.0", "branch-2.17"},
}

// trailersByGit are the values of a trailer, by commit, of the commits of one reference that another one does not have.
func trailersByGit(g *gittest.Repo, ours, theirs, key string) map[string][]string {
	found := map[string][]string{}
	format := "--format=%H %(trailers:key=" + key + ",valueonly,separator=%x20)"
	for line := range strings.Lines(g.Git("log", "--no-merges", format, ours, "^"+theirs)) {
		f := strings.Fields(line)
		found[f[0]] = f[1:]
	}
	return found
}

// Every commit that git finds equal, and every one with a Change-Id of the other branch, is the same here too, and no
// other one by these reasons.
func TestRealRepositoriesAgreeWithGit(t *testing.T) {
	clones := os.Getenv("REPOINFO_CLONES")
	if clones == "" {
		t.Skip("SKIPPED, NOT TESTED: the peer, real repositories, is not here: REPOINFO_CLONES names no directory with bare clones of " +
			"opendaylight/aaa, opendaylight/mdsal and openvswitch/ovs as aaa.git, mdsal.git and ovs.git")
	}
	for _, pair := range realPairs {
		t.Run(pair.project+" "+pair.ours+" "+pair.theirs, func(t *testing.T) {
			g := gittest.Open(t, filepath.Join(clones, pair.project+".git"))
			found := findPicks(t, g.Dir, g.Head(pair.ours), g.Head(pair.theirs))
			checkReal(t, g, pair.ours, pair.theirs, found)
		})
	}
}

func checkReal(t *testing.T, g *gittest.Repo, ours, theirs string, found *Found) {
	t.Helper()
	equal := gitEqual(g, ours, theirs)
	mine := trailersByGit(g, ours, theirs, "Change-Id")
	others := map[string]bool{}
	for hash, ids := range trailersByGit(g, theirs, ours, "Change-Id") {
		for _, id := range ids {
			others[id] = others[id] || found.Dropped[hash] == ""
		}
	}
	reasons := map[Reason]int{}
	for hash := range mine {
		same, had := found.Same[hash]
		_, gone := found.Gone[hash]
		reasons[same.Reason]++
		if equal[hash] && !had && !gone {
			t.Errorf("%s: git finds an equal patch", hash)
		}
		if same.Reason == ByPatchID && !equal[hash] {
			t.Errorf("%s: git finds no equal patch", hash)
		}
		all := len(mine[hash]) > 0
		for _, id := range mine[hash] {
			all = all && others[id]
		}
		if all && !had {
			t.Errorf("%s: git shows its Change-Ids on the other side", hash)
		}
		if same.Reason == ByChangeID && !all {
			t.Errorf("%s: git shows no such Change-Id on the other side", hash)
		}
	}
	t.Logf("%d commits: %v; git: %d equal; unread %d", len(mine), reasons, len(equal), found.Unread)
}
