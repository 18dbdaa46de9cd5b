package plugin

import (
	"strings"
	"sync"
	"syscall"
	"testing"

	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/wire"
)

func old(versions string) Spec {
	s := Spec{Name: "contract10", Path: oldBinary}
	if versions != "" {
		s.Env = []string{"CONTRACT=" + versions}
	}
	return s
}

// TestPluginsOfTheContractBefore: a plugin built against 1.0 runs in this host, through
// all of its life.
func TestPluginsOfTheContractBefore(t *testing.T) {
	if wire.APIVersions[0] == "1.0" {
		t.Fatal("1.0 is the newest: there is no contract before")
	}
	r := newRig(t, nil)
	r.ensure(old(""))
	echo := func() {
		t.Helper()
		ctx := caller.With(r.ctx(), caller.Caller{User: "ann", RequestID: "r1"})
		if out, err := r.Invoke(ctx, "contract10", "echo", []byte(`{"text":"x"}`)); err != nil || string(out) != `{"text":"x"}` {
			t.Errorf("%s, %v", out, err)
		}
	}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(echo)
	}
	wg.Wait()
	s, _ := r.get("contract10")
	if s.cur.Load().link != nil {
		t.Error("a plugin of 1.0 was asked for a link")
	}
	large := `{"text":"` + strings.Repeat("x", 1<<20) + `"}`
	if out, err := r.Invoke(r.ctx(), "contract10", "echo", []byte(large)); err != nil || string(out) != large {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	i, _ := r.Info("contract10")
	_ = syscall.Kill(i.PID, syscall.SIGKILL)
	echo() // waits for the restart
	if err := r.Reload(r.ctx(), "contract10"); err != nil {
		t.Error(err)
	}
	echo()
	if _, err := r.Gatherer().Gather(); err != nil {
		t.Error(err)
	}
	if err := r.Stop(r.ctx(), "contract10"); err != nil {
		t.Error(err)
	}
	if n := r.log.count("link cannot be opened"); n != 0 {
		t.Errorf("%d warnings about a link", n)
	}
}

// TestPluginsOfTheContractNow use a link; one that says it speaks 1.1 and serves none
// is called without.
func TestPluginsOfTheContractNow(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	s, _ := r.get("faulty")
	if c := s.cur.Load().link; c == nil || !c.Linked() {
		t.Error("the plugin of today has no link")
	}
	r.ensure(old("1.1 1.0"))
	s, _ = r.get("contract10")
	if c := s.cur.Load().link; c == nil || c.Linked() || r.log.count("link cannot be opened") != 0 {
		t.Error("a plugin without a link has one, or is blamed")
	}
	if out, err := r.Invoke(r.ctx(), "contract10", "echo", []byte(`{"text":"x"}`)); err != nil || string(out) != `{"text":"x"}` {
		t.Errorf("%s, %v", out, err)
	}
}

// TestPluginsOfTheFuture: newer minor versions are spoken with in an older one; what
// speaks none of ours is refused for good, and the reason says what to do.
func TestPluginsOfTheFuture(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(old("1.9 1.0"))
	if err := r.Remove(r.ctx(), "contract10"); err != nil {
		t.Fatal(err)
	}
	for versions, want := range map[string]string{"2.0": "speaks version 2.0 of", "3.1 2.0": "speaks versions 3.1, 2.0 of"} {
		err := r.Ensure(r.ctx(), old(versions))
		i, _ := r.Info("contract10")
		if err == nil || i.State != Failed {
			t.Errorf("%s: %v, state %s", versions, err, i.State)
			continue
		}
		for _, part := range []string{"plugin contract10 1.0.0", want, "this controller versions 1.1, 1.0", "install a version of the plugin for this controller"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: no %q in: %v", versions, part, err)
			}
		}
		if err := r.Remove(r.ctx(), "contract10"); err != nil {
			t.Fatal(err)
		}
	}
}
