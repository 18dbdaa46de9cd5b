package clones

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/sdk/fault"
)

func timeout(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), 10*time.Millisecond)
}

func TestInspectTellsEveryState(t *testing.T) {
	f := folder(t)
	zoo := gittest.Zoo(t, filepath.Join(f.dir, "a", "zoo.git"))
	gittest.New(t, filepath.Join(f.dir, "empty"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, clone := range [][]string{
		{"--quiet", zoo.Dir, filepath.Join(f.dir, "a", "normal")},
		{"--quiet", "--bare", "--depth=2", "file://" + zoo.Dir, filepath.Join(f.dir, "shallow.git")},
	} {
		if out, err := exec.CommandContext(ctx, "git", append([]string{"clone"}, clone...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	bad := gittest.New(t, filepath.Join(f.dir, "bad.git"))
	for path, text := range map[string]string{"config": "[core\n", "HEAD": "ref: refs/heads/x\n"} {
		if err := os.WriteFile(filepath.Join(bad.Dir, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	partial := gittest.Zoo(t, filepath.Join(f.dir, "partial.git"))
	if err := os.WriteFile(filepath.Join(partial.Dir, "objects", "pack", "pack-x.promisor"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	detached := gittest.Zoo(t, filepath.Join(f.dir, "detached.git"))
	detached.Git("update-ref", "--no-deref", "HEAD", "master")
	for ref := range strings.Lines(detached.Git("for-each-ref", "--format=%(refname)")) {
		detached.Git("update-ref", "-d", strings.TrimSpace(ref))
	}
	gittest.Zoo(t, filepath.Join(f.dir, "a#b.git"))
	gittest.Zoo(t, filepath.Join(f.dir, "-x"))
	gittest.Zoo(t, filepath.Join(f.dir, "twice.git"))
	gittest.New(t, filepath.Join(f.dir, "twice"))
	zoo.Git("worktree", "add", "--quiet", filepath.Join(f.dir, "linked"), "master")
	for _, dir := range []string{"failed.git", "just/a/folder", ".hidden/x.git"} {
		if err := os.MkdirAll(filepath.Join(f.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	infos, err := f.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, i := range infos {
		name := i.Project
		if _, there := got[name]; there {
			name += " again"
		}
		got[name] = i.Kind + " " + string(i.State)
		if (i.State == Unreadable) != (i.Problem != "") && i.State != Shallow && i.State != Partial {
			t.Errorf("%s: state %s, problem %q", i.Project, i.State, i.Problem)
		}
	}
	want := map[string]string{"a/zoo": "bare ok", "a/normal": "normal ok", "empty": "bare empty", "shallow": "bare shallow",
		"bad": "bare unreadable", "partial": "bare partial", "detached": "bare ok", "failed": "broken unreadable",
		"a#b": "broken unreadable", "-x": "broken unreadable", "twice": "broken unreadable", "twice again": "bare ok", "linked": "broken unreadable"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	names, err := f.Projects(t.Context())
	if diff := cmp.Diff([]string{"a/normal", "a/zoo", "bad", "detached", "empty", "partial", "shallow", "twice"}, names); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestOpenRefusesWhatIsNoProject(t *testing.T) {
	f := folder(t)
	outside := gittest.New(t, filepath.Join(filepath.Dir(f.dir), "outside.git"))
	if _, err := os.Stat(outside.Dir); err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]fault.Kind{"../outside": fault.Invalid, "/outside": fault.Invalid, "": fault.Invalid, "nope": fault.NotFound} {
		if _, _, err := f.Open(t.Context(), name); err == nil || fault.KindOf(err) != kind {
			t.Errorf("%q: %v", name, err)
		}
	}
	if infos, err := f.Inspect(t.Context()); err != nil || len(infos) != 0 {
		t.Errorf("a folder that is not there yet: %v, %v", infos, err)
	}
}

// A clone that borrows objects is read where the other directory can be read, else that directory is named.
func TestBorrowedObjects(t *testing.T) {
	f := folder(t)
	lender := gittest.Zoo(t, filepath.Join(t.TempDir(), "lender.git"))
	store := filepath.Join(lender.Dir, "objects")
	for name, line := range map[string]string{"plain": store, "quoted": strconv.Quote(store), "nested": filepath.Join(f.dir, "plain.git", "objects")} {
		g := gittest.New(t, filepath.Join(f.dir, name+".git"))
		if err := os.WriteFile(filepath.Join(g.Dir, "objects", "info", "alternates"), []byte("# lent\n"+line+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"plain", "quoted", "nested"} {
		_, release, err := f.Open(t.Context(), name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		release()
	}
	if err := os.Rename(lender.Dir, lender.Dir+".gone"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plain", "quoted", "nested"} {
		if _, _, err := f.Open(t.Context(), name); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), store) || !strings.Contains(err.Error(), "alternates of etc/repoinfo.yaml") {
			t.Errorf("%s: %v", name, err)
		}
	}
	infos, err := f.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		if i.State != Unreadable || !strings.Contains(i.Problem, store) {
			t.Errorf("%+v", i)
		}
	}
}
