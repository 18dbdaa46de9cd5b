package feature

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/fault"
)

// newPeer is another controller on the store of h, with files of its own; it does
// not follow yet.
func newPeer(t *testing.T, h *host) *host {
	t.Helper()
	p := &host{t: t, dir: home.Dir(t.TempDir()), store: h.store, gone: []string{"gone"}}
	p.file("features.yaml", testCatalogue)
	p.restart()
	return p
}

// follow lets a controller follow the others until the test ends.
func (h *host) follow() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.m.Run(ctx) }()
	h.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			h.t.Error(err)
		}
	})
}

// reaches waits until what is installed and what runs is as wants demands.
func (h *host) reaches(installed, running string) {
	h.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		has, runs := h.installed(), h.plugins.names()
		if has == installed && runs == running {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("installed %q, running %q; want %q, %q", has, runs, installed, running)
		}
		runtime.Gosched()
	}
}

func TestControllersOfAClusterFollowEachOther(t *testing.T) {
	one := newHost(t)
	two := newPeer(t, one)
	one.follow()
	two.follow()
	ctx := context.Background()
	both := func(installed, running string) {
		t.Helper()
		one.reaches(installed, running)
		two.reaches(installed, running)
	}
	one.install("driver")
	both("base:S driver:S sw:S", "driver switch")
	two.install("sw-cli")
	both("base:S driver:S sw:S sw-cli:S", "driver switch")
	if _, err := one.m.Stop(ctx, "driver"); err != nil {
		t.Fatal(err)
	}
	both("base:S driver:R sw:S sw-cli:S", "switch")
	more := one.file("more.yaml", "name: more\nfeatures:\n- {name: extra, version: 1.0.0, plugins: [{name: extra}]}\n")
	if _, _, err := one.m.AddRepository(ctx, more, AddOptions{Unsigned: true, Install: true}); err != nil {
		t.Fatal(err)
	}
	both("base:S driver:R extra:S sw:S sw-cli:S", "extra switch")
	if _, err := two.m.RemoveRepository(ctx, "more", true); err != nil {
		t.Fatal(err)
	}
	both("base:S driver:R sw:S sw-cli:S", "switch")
	if _, err := two.m.Uninstall(ctx, []string{"driver", "sw-cli"}, UninstallOptions{}); err != nil {
		t.Fatal(err)
	}
	both("base:S", "")
	if a, b := fmt.Sprint(one.m.Requirements()), fmt.Sprint(two.m.Requirements()); a != b {
		t.Errorf("required %s here, %s there", a, b)
	}
}

func TestChangeBeginsWithWhatTheClusterRequires(t *testing.T) {
	one := newHost(t)
	two := newPeer(t, one)
	one.install("driver")
	two.install("sw-cli") // it was not notified of driver
	two.wants("base:S driver:S sw:S sw-cli:S", "driver switch")
	if _, err := one.m.Uninstall(context.Background(), []string{"sw-cli"}, UninstallOptions{}); err != nil {
		t.Fatal(err) // nor was this of sw-cli
	}
	one.wants("base:S driver:S sw:S", "driver switch")
}

func TestChangeIsMadeAnewWhenAnotherWasFaster(t *testing.T) {
	one := newHost(t)
	two := newPeer(t, one)
	turns := 0
	two.plugins.hook = func() { // while the plugins of two start
		if turns++; turns == 1 {
			one.install("sw-cli")
		}
	}
	two.install("driver")
	two.wants("base:S driver:S sw:S sw-cli:S", "driver switch")
	one.restart()
	one.wants("base:S driver:S sw:S sw-cli:S", "driver switch")
}

func TestChangeThatIsAlwaysOvertakenChangesNothing(t *testing.T) {
	one := newHost(t)
	two := newPeer(t, one)
	two.plugins.hook = func() { // while the plugins of two start, each time
		var err error
		if strings.Contains(one.installed(), "hidden") {
			_, err = one.m.Uninstall(context.Background(), []string{"hidden"}, UninstallOptions{})
		} else {
			_, err = one.m.Install(context.Background(), []string{"hidden"}, InstallOptions{})
		}
		if err != nil {
			t.Error(err)
		}
	}
	_, err := two.m.Install(context.Background(), []string{"driver"}, InstallOptions{})
	if fault.KindOf(err) != fault.InUse || !strings.Contains(err.Error(), "nothing was changed; try again") {
		t.Fatalf("%v", err)
	}
	if strings.Contains(two.installed(), "driver") || two.plugins.names() != "" {
		t.Errorf("installed %s, running %q", two.installed(), two.plugins.names())
	}
	one.restart()
	if strings.Contains(one.installed(), "driver") {
		t.Errorf("stored: %s", one.installed())
	}
}

func TestWhatOneControllerLacksDoesNotKeepItFromFollowing(t *testing.T) {
	one := newHost(t)
	two := newPeer(t, one)
	two.gone = append(two.gone, "driver")
	two.plugins.fails["switch"] = errors.New("no")
	two.follow()
	one.install("driver", "sw-cli")
	two.reaches("base:S driver:U sw:S sw-cli:S", "")
	if i, err := two.m.Info("driver", ""); err != nil || !strings.Contains(i.Note, "is not there") {
		t.Errorf("%+v, %v", i, err)
	}
	two.install("hidden")
	if got := fmt.Sprint(two.m.Requirements()); got != "[base driver sw-cli hidden]" { // driver is kept for those that have it
		t.Errorf("required %s", got)
	}
}

func TestControllersThatStartTogetherForTheFirstTime(t *testing.T) {
	one := newHost(t)
	one.store = storetest.New(storetest.Options{})
	defer one.store.Close()
	two := &host{t: t, dir: one.dir, store: one.store, gone: one.gone}
	one.load()
	two.load() // before one has stored anything
	for _, h := range []*host{one, two} {
		if err := h.m.Restore(context.Background()); err != nil {
			t.Fatal(err)
		}
		h.wants("base:S", "")
	}
}
