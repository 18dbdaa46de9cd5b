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

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/sdk/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func syncer(t *testing.T, sources ...clones.Source) (*Syncer, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clones")
	folder, err := clones.NewFolder(dir, &gitcmd.Git{})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	store := counts.NewStore(t.TempDir(), 1<<20, log)
	t.Cleanup(store.Close)
	return &Syncer{Folder: folder, Lister: &history.Lister{Counts: store, MessageLimit: 1 << 20}, Log: log, Parallel: 2, Timeout: time.Minute,
		Sources: func(context.Context) ([]clones.Source, error) { return sources, nil }}, dir
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

func TestASecondSyncWaitsForItsTurn(t *testing.T) {
	s, _ := syncer(t)
	inside, leave := make(chan struct{}, 2), make(chan struct{})
	s.Sources = func(context.Context) ([]clones.Source, error) {
		inside <- struct{}{}
		<-leave
		return nil, nil
	}
	done := make(chan error, 2)
	go func() { _, err := s.Sync(t.Context(), "", func(Step) {}); done <- err }()
	<-inside
	waiting := make(chan struct{})
	go func() { _, err := s.Sync(t.Context(), "", func(Step) { close(waiting) }); done <- err }()
	<-waiting
	if len(inside) != 0 {
		t.Error("two syncs at a time")
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.Sync(ctx, "", func(Step) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(leave)
	if err := errors.Join(<-done, <-done); err != nil {
		t.Error(err)
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

// A history that breaks off is told as such, not as counts that are missing.
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
