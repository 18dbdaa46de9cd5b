package clones

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/sdk/fault"
)

func folder(t *testing.T) *Folder {
	t.Helper()
	f, err := NewFolder(filepath.Join(t.TempDir(), "clones"), &gitcmd.Git{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mirror(t *testing.T, f *Folder, s Source) bool {
	t.Helper()
	changed, err := f.Mirror(t.Context(), s, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestMirrorOverHTTP(t *testing.T) {
	root := t.TempDir()
	origin := gittest.Zoo(t, filepath.Join(root, "a", "zoo.git"))
	origin.Git("update-ref", "refs/changes/01/1/1", origin.Head("two"))
	origin.Git("branch", "-m", "master", "main")
	origin.Git("symbolic-ref", "HEAD", "refs/heads/main")
	const secret = "Basic dXNlcjpwYXNz"
	srv := gittest.Serve(t, root, secret)
	f := folder(t)
	s := Source{Project: "a/zoo", URL: srv.URL + "/a/zoo.git", Header: "Authorization: " + secret}
	if !mirror(t, f, s) || mirror(t, f, s) {
		t.Error("a first mirroring changes something, a second does not")
	}
	repo, release, err := f.Open(t.Context(), "a/zoo")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	here := &gittestRepo{t, repo.Dir}
	if got, want := here.refs(), origin.Git("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags"); got != want {
		t.Errorf("references differ (changes must not come along):\n%s\nwant\n%s", got, want)
	}
	if head, _ := os.ReadFile(filepath.Join(repo.Dir, "HEAD")); strings.TrimSpace(string(head)) != "ref: refs/heads/main" {
		t.Errorf("HEAD is %s", head)
	}
	if !pathExists(filepath.Join(repo.Dir, "objects", "info", "commit-graphs")) {
		t.Error("no commit graph")
	}
	if data, _ := os.ReadFile(filepath.Join(repo.Dir, "config")); strings.Contains(string(data), "dXNlcjpwYXNz") {
		t.Error("the secret is in the clone's configuration")
	}

	origin.Git("update-ref", "-d", "refs/heads/one")
	origin.Git("update-ref", "refs/heads/one/deeper", origin.Head("two"))
	origin.Git("tag", "-d", "light")
	if !mirror(t, f, s) {
		t.Error("a change was not seen")
	}
	if got, want := here.refs(), origin.Git("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags"); got != want {
		t.Errorf("after pruning:\n%s\nwant\n%s", got, want)
	}
}

func TestCredentialsDoNotFollowARedirect(t *testing.T) {
	root := t.TempDir()
	gittest.Zoo(t, filepath.Join(root, "zoo.git"))
	var leaked atomic.Int64
	real := gittest.Serve(t, root, "")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			leaked.Add(1)
		}
		http.Redirect(w, r, real.URL+r.URL.Path+"?"+r.URL.RawQuery, http.StatusFound)
	}))
	defer other.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path+"?"+r.URL.RawQuery, http.StatusFound)
	}))
	defer srv.Close()
	f := folder(t)
	s := Source{Project: "zoo", URL: srv.URL + "/zoo.git", Header: "Authorization: Basic dXNlcjpwYXNz"}
	if _, err := f.Mirror(t.Context(), s, time.Minute); fault.KindOf(err) != fault.Downstream || leaked.Load() != 0 {
		t.Errorf("%v, %d requests with credentials", err, leaked.Load())
	}
	s.Header = ""
	if _, err := f.Mirror(t.Context(), s, time.Minute); err != nil {
		t.Errorf("without credentials: %v", err)
	}
}

func TestAFragmentedMirrorIsPackedWhenNobodyReads(t *testing.T) {
	origin := gittest.Long(t, filepath.Join(t.TempDir(), "o.git"), 150)
	master := origin.Head("master")
	f := folder(t)
	f.packs = 2
	s := Source{Project: "p", URL: "file://" + origin.Dir}
	for _, back := range []string{"~140", "~1", ""} {
		origin.Git("update-ref", "refs/heads/master", master+back)
		mirror(t, f, s)
	}
	repo, release, err := f.Open(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	packs, err := filepath.Glob(filepath.Join(repo.Dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Errorf("%d packs, %v", len(packs), err)
	}
	if loose, _ := filepath.Glob(filepath.Join(repo.Dir, "objects", "[0-9a-f][0-9a-f]")); len(loose) != 0 {
		t.Errorf("%d folders of loose objects", len(loose))
	}
}

type gittestRepo struct {
	t   *testing.T
	dir string
}

func (r *gittestRepo) refs() string {
	r.t.Helper()
	out, err := (&gitcmd.Git{}).Output(r.t.Context(), gitcmd.Call{Dir: r.dir, Args: []string{"for-each-ref", "--format=%(objectname) %(refname)"}})
	if err != nil {
		r.t.Fatal(err)
	}
	return string(out)
}

func TestAFailedCloneDoesNoHarmToTheNext(t *testing.T) {
	root := t.TempDir()
	srv := gittest.Serve(t, root, "")
	f := folder(t)
	s := Source{Project: "late", URL: srv.URL + "/late.git"}
	_, err := f.Mirror(t.Context(), s, time.Minute)
	if fault.KindOf(err) != fault.Downstream || !strings.Contains(err.Error(), "late") {
		t.Errorf("a repository that is not there: %v", err)
	}
	if _, _, err := f.Open(t.Context(), "late"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("half a clone can be opened: %v", err)
	}
	place := filepath.Join(f.dir, "late.git")
	if err := os.MkdirAll(place, 0o755); err != nil { // what upstream's failed clones leave
		t.Fatal(err)
	}
	gittest.Zoo(t, filepath.Join(root, "late.git"))
	mirror(t, f, s)
	if infos, err := f.Inspect(t.Context()); err != nil || len(infos) != 1 || infos[0].State != Ok || !infos[0].Mirrored {
		t.Errorf("%+v, %v", infos, err)
	}
}

func TestTheOperatorsOwnCloneIsNotTouched(t *testing.T) {
	f := folder(t)
	own := gittest.Zoo(t, filepath.Join(f.dir, "own.git"))
	other := gittest.New(t, filepath.Join(t.TempDir(), "other.git"))
	before := own.Git("for-each-ref")
	_, err := f.Mirror(t.Context(), Source{Project: "own", URL: other.Dir}, time.Minute)
	if fault.KindOf(err) != fault.Exists || own.Git("for-each-ref") != before {
		t.Errorf("%v", err)
	}
}

func TestTwoMirroringsOfOneProject(t *testing.T) {
	f := folder(t)
	unlock, err := f.lockProject("p")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Mirror(t.Context(), Source{Project: "p", URL: "/nowhere"}, time.Minute); fault.KindOf(err) != fault.InUse {
		t.Errorf("%v", err)
	}
	unlock()
	if _, err := f.Mirror(t.Context(), Source{Project: "p", URL: "/nowhere"}, time.Minute); fault.KindOf(err) != fault.Downstream {
		t.Errorf("%v", err)
	}
}

func TestReadersAndRemovers(t *testing.T) {
	var g gates
	r1, err := g.acquireRead(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	entered := make(chan func())
	go func() {
		release, err := g.acquireWrite(t.Context(), "p")
		if err != nil {
			t.Error(err)
		}
		entered <- release
	}()
	r2, err := g.acquireRead(t.Context(), "p") // never waits for a remover who waits
	if err != nil {
		t.Fatal(err)
	}
	r1()
	r2()
	release := <-entered
	ctx, cancel := timeout(t)
	defer cancel()
	if _, err := g.acquireRead(ctx, "p"); !errors.Is(err, ctx.Err()) || err == nil {
		t.Errorf("a reader came in while objects are removed: %v", err)
	}
	release()
	r3, err := g.acquireRead(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	r3()
}

func TestMirrorOfLongObjectNames(t *testing.T) {
	root := t.TempDir()
	origin := gittest.New(t, filepath.Join(root, "long.git"), "--object-format=sha256")
	var stream gittest.Stream
	stream.Add(gittest.Commit{Message: "one\n"})
	origin.Import(stream.String())
	srv := gittest.Serve(t, root, "")
	for name, url := range map[string]string{"http": srv.URL + "/long.git", "local": origin.Dir} {
		f := folder(t)
		s := Source{Project: name, URL: url}
		if !mirror(t, f, s) || mirror(t, f, s) {
			t.Errorf("%s: a first mirroring changes something, a second does not", name)
		}
		repo, release, err := f.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := repo.Default(t.Context()); err != nil || got != origin.Head("master") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		release()
	}
}
