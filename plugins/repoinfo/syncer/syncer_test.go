package syncer

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/jobs"
	"ctl.internal/sdk/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func syncer(t *testing.T, sources ...clones.Source) (*Syncer, string) {
	t.Helper()
	return syncerWith(t, "git", sources...)
}

func syncerWith(t *testing.T, git string, sources ...clones.Source) (*Syncer, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clones")
	folder, err := clones.NewFolder(dir, &gitcmd.Git{Path: git})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	store := jobs.Open(t.TempDir(), 1<<20, log)
	t.Cleanup(store.Close)
	return New(Options{Folder: folder, Lister: &history.Lister{Counts: counts.NewTable(store), MessageLimit: 1 << 20}, Log: log, Parallel: 2, Timeout: time.Minute,
		Sources: func(context.Context) ([]clones.Source, error) { return sources, nil }}), dir
}

func TestOneBadProjectHarmsNoOther(t *testing.T) {
	root := t.TempDir()
	origin := gittest.Zoo(t, filepath.Join(root, "good.git"))
	s, dir := syncer(t, clones.Source{Project: "good", URL: origin.Dir}, clones.Source{Project: "bad", URL: filepath.Join(root, "nothing")})
	gittest.Long(t, filepath.Join(dir, "own.git"), 40)
	var mu sync.Mutex
	steps := map[string]bool{}
	names, err := s.Sync(t.Context(), "", func(st Step) {
		mu.Lock()
		defer mu.Unlock()
		steps[st.Project+" "+st.Text] = true
	})
	if diff := cmp.Diff([]string{"bad", "good", "own"}, names); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	good, bad, own := s.Status("good"), s.Status("bad"), s.Status("own")
	if good.Err != nil || good.Counted != 18 || good.Unknown != 0 || own.Counted != 40 || own.Err != nil {
		t.Errorf("good %+v, own %+v", good, own)
	}
	if fault.KindOf(bad.Err) != fault.Downstream || s.Cloning("bad") {
		t.Errorf("bad %+v", bad)
	}
	for _, want := range []string{"good fetching", "good done", "own done", "bad done"} {
		if !steps[want] {
			t.Errorf("no step %q in %v", want, steps)
		}
	}
}

func TestOneProjectOnly(t *testing.T) {
	origin := gittest.Zoo(t, filepath.Join(t.TempDir(), "o.git"))
	s, _ := syncer(t, clones.Source{Project: "a", URL: origin.Dir}, clones.Source{Project: "b", URL: origin.Dir})
	if names, err := s.Sync(t.Context(), "b", func(Step) {}); err != nil || len(names) != 1 || !s.Status("a").When.IsZero() || s.Cloning("a") {
		t.Errorf("%v, %v, %+v", names, err, s.Status("a"))
	}
	if _, err := s.Sync(t.Context(), "c", func(Step) {}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}

// hangingGit is a git whose counting of the project "large" says that it began, and ends
// when release is called.
func hangingGit(t *testing.T) (git string, began func(), release func()) {
	t.Helper()
	dir := t.TempDir()
	script, pipe, gate := filepath.Join(dir, "git"), filepath.Join(dir, "began"), filepath.Join(dir, "gate")
	text := "#!/bin/sh\ncase \"$*\" in *large.git*diff-tree*) echo x >" + pipe + "; cat " + gate + " >/dev/null;; esac\nexec git \"$@\"\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{pipe, gate} {
		if err := unix.Mkfifo(p, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	began = func() {
		if _, err := os.ReadFile(pipe); err != nil {
			t.Error(err)
		}
	}
	return script, began, func() {
		if err := os.WriteFile(gate, nil, 0); err != nil {
			t.Error(err)
		}
	}
}

func TestALargeCountHoldsUpNothingElse(t *testing.T) {
	git, began, release := hangingGit(t)
	root := t.TempDir()
	origin := gittest.Zoo(t, filepath.Join(root, "zoo.git"))
	var sources []clones.Source
	s, dir := syncerWith(t, git)
	s.Parallel, s.Interval = 1, time.Millisecond
	s.Sources = func(context.Context) ([]clones.Source, error) { return sources, nil }
	gittest.Long(t, filepath.Join(dir, "large.git"), 50)
	done := make(chan error, 2)
	go func() { _, err := s.Sync(t.Context(), "large", func(Step) {}); done <- err }()
	began()
	sources = []clones.Source{{Project: "new", URL: origin.Dir}}
	if names, err := s.Sync(t.Context(), "new", func(Step) {}); err != nil || len(names) != 1 || s.Status("new").Counted != 18 {
		t.Errorf("%v %v %+v", names, err, s.Status("new"))
	}
	waiting := make(chan struct{}, 10)
	go func() {
		_, err := s.Sync(t.Context(), "large", func(st Step) { waiting <- struct{}{} })
		done <- err
	}()
	<-waiting // for the count that runs
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.Sync(ctx, "large", func(Step) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	release()
	if err := errors.Join(<-done, <-done); err != nil || s.Status("large").Counted != 50 {
		t.Errorf("%v %+v", err, s.Status("large"))
	}
}

func TestNothingToSyncIsAnError(t *testing.T) {
	s, dir := syncer(t)
	if _, err := s.Sync(t.Context(), "", func(Step) {}); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
}

func TestSourcesThatCannotBeListedDoNotStopTheRest(t *testing.T) {
	s, dir := syncer(t)
	gittest.Long(t, filepath.Join(dir, "own.git"), 5)
	down := errors.New("review server down")
	s.Sources = func(context.Context) ([]clones.Source, error) { return nil, down }
	names, err := s.Sync(t.Context(), "", func(Step) {})
	if !errors.Is(err, down) || len(names) != 1 || s.Status("own").Counted != 5 {
		t.Errorf("%v, %v", names, err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	s, _ := syncer(t)
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan struct{}, 10)
	s.Interval = time.Hour
	s.Sources = func(context.Context) ([]clones.Source, error) { ran <- struct{}{}; return nil, nil }
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	<-ran
	cancel()
	<-done
}

// A history that breaks off is reported as such, not as counts that are missing.
func TestADamagedHistory(t *testing.T) {
	s, dir := syncer(t)
	own := gittest.Long(t, filepath.Join(dir, "own.git"), 40)
	own.Explode()
	lost := own.Head("master~20")
	if err := os.Remove(filepath.Join(own.Dir, "objects", lost[:2], lost[2:])); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sync(t.Context(), "", func(Step) {}); err != nil {
		t.Fatal(err)
	}
	if st := s.Status("own"); !st.Damaged || st.Err == nil || !strings.Contains(st.Err.Error(), lost) {
		t.Errorf("%+v", st)
	}
}
