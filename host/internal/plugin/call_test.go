package plugin

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

func TestASafeCallSurvivesACrash(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	if _, err := r.call("crash-once", "{}"); err != nil {
		t.Errorf("a safe call that the plugin died under: %v", err)
	}
	i, _ := r.Info("faulty")
	if i.Generation != 2 || i.Repeated != 1 || i.Restarts != 1 {
		t.Errorf("info: %+v", i)
	}
}

func TestASafeCallThatKillsThePluginIsRepeatedOnceOnly(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	_, err := r.call("crash", "{}")
	var u *UnavailableError
	if !errors.As(err, &u) || fault.KindOf(err) != fault.Unavailable {
		t.Errorf("error %v", err)
	}
	i := r.until("faulty", "restarted", func(i Info) bool { return i.State == Ready && i.Generation == 3 })
	if i.Repeated != 1 {
		t.Errorf("info: %+v", i)
	}
}

func TestAnUnsafeCallIsNotRepeated(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	_, err := r.call("exit", `{"code":3}`)
	var u *UnavailableError
	if !errors.As(err, &u) || u.RetryAfter() < time.Second {
		t.Errorf("error %v", err)
	}
	i := r.until("faulty", "restarted", func(i Info) bool { return i.State == Ready && i.Generation == 2 })
	if i.Repeated != 0 || !strings.Contains(i.LastError, "exit status 3; last words: leaving with 3") {
		t.Errorf("info: %+v", i)
	}
}

func TestCallsWhileThePluginIsDown(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Policy.FirstDelay, o.Policy.MaxDelay = time.Hour, time.Hour })
	r.ensure(faulty())
	for n := range 2 { // the first restart is immediate, the second takes an hour
		i := r.until("faulty", "ready", func(i Info) bool { return i.State == Ready && i.Generation == uint64(n+1) })
		_ = syscall.Kill(i.PID, syscall.SIGKILL)
	}
	r.untilState("faulty", Backoff)
	_, err := r.call("fail", `{"kind":0}`)
	var u *UnavailableError
	if !errors.As(err, &u) || u.RetryAfter() < 59*time.Minute || !strings.Contains(err.Error(), "killed by signal (killed); restart 2 follows") {
		t.Errorf("an unsafe call: %v", err)
	}
	// The deadline comes before the restart: waiting would be in vain.
	if _, err := r.call("echo", "{}"); !errors.As(err, &u) {
		t.Errorf("a safe call: %v", err)
	}
}

func TestCancelReachesThePlugin(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := r.Invoke(ctx, "faulty", "wait", []byte(`{"milliseconds":600000}`))
		ended <- err
	}()
	r.find("the wait has begun")
	cancel()
	if err := <-ended; err == nil {
		t.Error("a call that was cancelled succeeded")
	}
	r.find("cancelled")
}

func TestThePluginLearnsItsCaller(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	out, err := r.Invoke(caller.With(r.ctx(), caller.Caller{User: "ann", RequestID: "r1"}), "faulty", "who", nil)
	if err != nil || string(out) != `{"request-id":"r1","user":"ann"}` {
		t.Errorf("who: %s, %v", out, err)
	}
	s, _ := r.findSupervisor("faulty")
	if _, ok := s.callers.servedContext("r1"); ok {
		t.Error("the caller is remembered after its call")
	}
}

// An action is called in the plugin that implements its module, with the path of the instance.
func TestActionsAreCalledInThePluginOfTheirModule(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	call := func(module, action, path string) (string, error) {
		input := []byte(`{"text":"x"}`)
		request := &operations.Request{Module: module, RPC: action, Path: path, Input: input}
		out, err := r.InvokeAction(r.ctx(), request)
		return string(out), err
	}
	out, err := call("faulty", "reset", "/faulty:boxes/box=a%2Fb")
	want := `{"text":"/faulty:boxes/box=a%2Fb a/b {\"text\":\"x\"}"}`
	if err != nil || out != want {
		t.Errorf("got %s, %v, want %s", out, err, want)
	}
	_, err = call("other", "reset", "/other:x")
	if fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "/other:x/reset") {
		t.Errorf("an action of a module that nothing implements: %v", err)
	}
	_, err = call("faulty", "nothing", "/faulty:boxes")
	if fault.KindOf(err) != fault.Unsupported {
		t.Errorf("an action that the plugin does not know: %v", err)
	}
}

func TestTooManyCallsAreRefused(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Limits.InFlight = 3 })
	r.ensure(faulty())
	ctx, cancel := context.WithCancel(r.ctx())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { _, _ = r.Invoke(ctx, "faulty", "wait", []byte(`{"milliseconds":60000}`)) })
	}
	for {
		if i, _ := r.Info("faulty"); i.InFlight == 3 {
			break
		}
		r.must2("echo")
	}
	_, err := r.call("echo", "{}")
	var u *UnavailableError
	if !errors.As(err, &u) || !strings.Contains(err.Error(), "busy") {
		t.Errorf("one call too many: %v", err)
	}
	cancel()
	wg.Wait()
	r.must("echo", "{}")
}

// must2 makes a call that may be refused.
func (r *rig) must2(rpc string) { _, _ = r.call(rpc, "{}") }

func TestStreamsTellTheDeathOfThePlugin(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	c, err := r.Conn("faulty")
	if err != nil {
		t.Fatal(err)
	}
	// An RPC through the connection is not safe unless its context says so.
	if _, err := operations.NewClient(c).Call(r.ctx(), &operations.Request{Module: "faulty", RPC: "crash"}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("error %v", err)
	}
	r.until("faulty", "restarted", func(i Info) bool { return i.State == Ready && i.Generation == 2 })
	if _, err := operations.NewClient(c).Call(Safe(r.ctx()), &operations.Request{Module: "faulty", RPC: "crash-once"}); err != nil {
		t.Errorf("a safe call: %v", err)
	}
}

func TestUnknownRPC(t *testing.T) {
	r := newRig(t, nil)
	if _, err := r.call("echo", "{}"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("error %v", err)
	}
}

func BenchmarkInvoke(b *testing.B) {
	r := newRig(b, nil)
	r.ensure(faulty())
	ctx := b.Context()
	in := []byte(`{"text":"` + strings.Repeat("x", 200) + `"}`)
	s, _ := r.findSupervisor("faulty")
	raw := operations.NewClient(s.cur.Load().conn)
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"raw", func() error {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			_, err := raw.Call(ctx, &operations.Request{Module: "faulty", RPC: "echo", Input: in})
			return err
		}},
		{"managed", func() error { _, err := r.Invoke(ctx, "faulty", "echo", in); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// From kill -9 to the answer of the next safe call.
func BenchmarkRestart(b *testing.B) {
	r := newRig(b, func(o *Options) {
		o.Policy = Policy{FirstDelay: time.Nanosecond, MaxDelay: time.Nanosecond, StableAfter: time.Hour}
	})
	r.ensure(faulty())
	for b.Loop() {
		i := r.untilState("faulty", Ready)
		_ = syscall.Kill(i.PID, syscall.SIGKILL)
		if _, err := r.Invoke(b.Context(), "faulty", "echo", nil); err != nil {
			b.Fatal(err)
		}
	}
}

// Ten plugins started at once, until all serve.
func BenchmarkStartTen(b *testing.B) {
	for b.Loop() {
		r := newRig(b, nil)
		var wg sync.WaitGroup
		for n := range 10 {
			wg.Go(func() {
				s := faulty("no-claims", "name=p"+itoa(n))
				s.Name = "p" + itoa(n)
				if err := r.Ensure(b.Context(), s); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
		b.StopTimer()
		if err := r.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
