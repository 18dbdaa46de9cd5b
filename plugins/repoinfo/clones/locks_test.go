package clones

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/sdk/fault"
)

// A git that was killed leaves its locks. Those of another git are respected and reported
// with their remedy; those that no process can hold any more are removed, also in a first
// clone that broke off.
func TestLocksOfAnotherGit(t *testing.T) {
	for _, row := range []struct {
		name  string
		first bool   // in the first clone
		lock  string // below the mirror
	}{
		{"packed references", false, "packed-refs.lock"},
		{"a branch", false, "refs/heads/master.lock"},
		{"HEAD of a first clone", true, "HEAD.lock"},
	} {
		t.Run(row.name, func(t *testing.T) {
			origin := gittest.Long(t, filepath.Join(t.TempDir(), "o.git"), 5)
			f := folder(t)
			s := Source{Project: "p", URL: origin.Dir}
			dir := f.hiddenPath("incoming", "p")
			if row.first {
				if err := f.initMirror(t.Context(), dir, "sha1"); err != nil {
					t.Fatal(err)
				}
			} else {
				tip := origin.Head("master")
				origin.Git("update-ref", "refs/heads/master", origin.Head("master~2"))
				origin.Git("branch", "goes", "master")
				mirror(t, f, s)
				dir, _ = f.findClone("p")
				origin.Git("update-ref", "refs/heads/master", tip)
				origin.Git("branch", "-D", "goes")
			}
			lock := filepath.Join(dir, row.lock)
			if err := os.MkdirAll(filepath.Dir(lock), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(lock, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := f.Mirror(t.Context(), s, time.Minute)
			if fault.KindOf(err) != fault.InUse || !strings.Contains(err.Error(), "remove the file") || !pathExists(lock) {
				t.Fatalf("a fresh lock: %v, the lock is there: %v", err, pathExists(lock))
			}
			old := time.Now().Add(-2 * staleLock)
			if err := os.Chtimes(lock, old, old); err != nil {
				t.Fatal(err)
			}
			mirror(t, f, s)
			if pathExists(lock) {
				t.Error("the stale lock is still there")
			}
			place, _ := f.findClone("p")
			if here := (&gittestRepo{t, place}); here.refs() != origin.Git("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags") {
				t.Error("the mirror is not up to date")
			}
		})
	}
}
