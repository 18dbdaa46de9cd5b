package plugin

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestReloadReplacesTheProcess(t *testing.T) {
	config := `{"level":3}`
	r := newRig(t, func(o *Options) {
		o.Settings = func(string, []byte) ([]byte, error) { return []byte(config), nil }
	})
	r.ensure(faulty())
	before, _ := r.Info("faulty")

	slow := make(chan error, 1)
	go func() { _, err := r.call("wait", `{"milliseconds":300}`); slow <- err }()
	r.until("faulty", "busy", func(i Info) bool {
		return i.InFlight == 1 || func() bool { r.must2("echo"); r.changed.Fire(); return false }()
	})

	config = `{"level":10}`
	if err := r.Reload(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	after, _ := r.Info("faulty")
	if after.PID == before.PID || after.Generation != 2 || after.State != Ready || len(after.Warnings) != 1 || after.Restarts != 0 {
		t.Errorf("after: %+v", after)
	}
	if err := <-slow; err != nil {
		t.Errorf("a call under way was lost: %v", err)
	}
}

func TestAFailedReloadKeepsTheOldProcess(t *testing.T) {
	config := `{}`
	r := newRig(t, func(o *Options) {
		o.Settings = func(string, []byte) ([]byte, error) { return []byte(config), nil }
	})
	r.ensure(faulty())
	before, _ := r.Info("faulty")
	for _, c := range []struct{ config, want string }{
		{`{"refuse":"not so"}`, "/refuse: not so"},
		{`{"health":"failed"}`, "by the settings"},
	} {
		config = c.config
		if err := r.Reload(r.ctx(), "faulty"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("reload with %s: %v", c.config, err)
		}
		if now, _ := r.Info("faulty"); now.PID != before.PID || now.State != Ready || !strings.Contains(now.LastError, c.want) {
			t.Errorf("after: %+v", now)
		}
		r.must("echo", "{}")
	}
	if err := r.Ensure(r.ctx(), faulty()); err != nil {
		t.Errorf("Ensure after a failed reload, with an unchanged spec: %v", err)
	}
	config = `{}`
	if err := r.Ensure(r.ctx(), faulty("exit=5")); err == nil || !strings.Contains(err.Error(), "exit status 5") {
		t.Errorf("Ensure with a spec that cannot start: %v", err)
	}
	_ = syscall.Kill(before.PID, syscall.SIGKILL)
	r.must("echo", "{}") // it is restarted as it was
}

func TestAChangedSpecIsAReload(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	before := r.Manifests()
	s := faulty()
	s.Env = []string{"NEW=1"}
	r.ensure(s)
	if again := r.Manifests(); len(again) != 1 || again[0] != before[0] {
		t.Error("the same manifest is another value after a reload")
	}
	if i, _ := r.Info("faulty"); i.Generation != 2 || !strings.Contains(r.must("environment", "{}"), "NEW=1") {
		t.Errorf("info: %+v", i)
	}
}

func TestAnExclusivePluginIsReloadedByARestart(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty("exclusive"))
	before, _ := r.Info("faulty")
	if err := r.Reload(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	if now, _ := r.Info("faulty"); now.PID == before.PID || alive(before.PID) {
		t.Errorf("info: %+v", now)
	}
}

// Ten thousand safe calls while the plugin is reloaded twenty times and killed
// twenty times: none fails.
func TestNoSafeCallIsLostUnderLoad(t *testing.T) {
	calls, rounds := int64(10_000), 20
	if testing.Short() {
		calls, rounds = 1000, 3
	}
	r := newRig(t, func(o *Options) {
		o.Policy = Policy{FirstDelay: time.Millisecond, MaxDelay: time.Millisecond, StableAfter: time.Hour}
		// On a busy machine a start, and the end of the last call, take their time.
		o.Limits.RestartWait, o.Limits.DrainTimeout = 2*time.Minute, time.Minute
	})
	r.ensure(faulty())
	stop := make(chan struct{})
	var made, failed atomic.Int64
	var first atomic.Pointer[string]
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for range 8 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					if made.Load() >= calls {
						return
					}
				default:
				}
				if _, err := r.Invoke(ctx, "faulty", "echo", []byte(`{"text":"x"}`)); err != nil {
					failed.Add(1)
					text := err.Error()
					first.CompareAndSwap(nil, &text)
				}
				made.Add(1)
			}
		})
	}
	for round := range rounds {
		i := r.untilState("faulty", Ready)
		target := made.Load() + calls/int64(rounds)/4 // traffic between the blows
		_ = syscall.Kill(i.PID, syscall.SIGKILL)
		r.until("faulty", "restarted", func(n Info) bool { return n.State == Ready && n.Generation > i.Generation })
		for made.Load() < target {
			r.must("echo", "{}")
		}
		if err := r.Reload(r.ctx(), "faulty"); err != nil {
			t.Errorf("reload %d: %v", round, err)
		}
	}
	close(stop)
	wg.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d of %d safe calls failed, the first with: %s", failed.Load(), made.Load(), *first.Load())
	}
	i, _ := r.Info("faulty")
	t.Logf("%d calls, %d processes, %d repeated", made.Load(), i.Generation, i.Repeated)
	if i.Generation < uint64(2*rounds) || i.Repeated == 0 {
		t.Errorf("the blows did not hit: %+v", i)
	}
}
