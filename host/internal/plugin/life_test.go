package plugin

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"

	"ctl.internal/sdk/fault"
)

func TestAPluginLives(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	if got := r.must("echo", `{"text":"hello"}`); got != `{"text":"hello"}` {
		t.Errorf("echo answers %s", got)
	}
	i := r.untilState("faulty", Ready)
	if i.PID == 0 || i.Version != "1.0.0" || i.Generation != 1 || len(i.SHA256) != 64 {
		t.Errorf("info: %+v", i)
	}
	r.ensure(faulty()) // nothing to do
	if again, _ := r.Info("faulty"); again.PID != i.PID {
		t.Error("Ensure with the same spec has started another process")
	}
	if err := r.Stop(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + itoa(i.PID)); err == nil {
		t.Error("the process is still there after Stop")
	}
	if _, err := r.call("echo", "{}"); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("call to a stopped plugin: %v", err)
	}
	if err := r.Start(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	r.must("echo", "{}")
	if err := r.Remove(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.call("echo", "{}"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("call to a removed plugin: %v", err)
	}
}

// plugin:kill ends a process as a crash does: calls that change nothing wait for the next one. Without a process it is an
// error, which nobody can take for the number of another process.
func TestKill(t *testing.T) {
	crashed := make(chan string, 10)
	r := newRig(t, func(o *Options) {
		o.Crashed = func(plugin, reason string) { crashed <- plugin + ": " + reason }
	})
	r.ensure(faulty())
	before := r.untilState("faulty", Ready)
	if err := r.Kill(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	r.must("echo", "{}")
	if after, _ := r.Info("faulty"); after.PID == before.PID || after.Restarts != before.Restarts+1 {
		t.Errorf("process %d with %d restarts, then %d with %d", before.PID, before.Restarts, after.PID, after.Restarts)
	}
	if crash := <-crashed; crash != "faulty: it was killed by plugin:kill" {
		t.Errorf("the crash is %q", crash)
	}
	if err := r.Reload(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	if err := r.Stop(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	if n := len(crashed); n != 0 {
		t.Errorf("what was ordered is %d crashes, the first %q", n, <-crashed)
	}
	if err := r.Kill(r.ctx(), "faulty"); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "plugin:start faulty") {
		t.Errorf("of a plugin that is stopped: %v", err)
	}
	i, _ := r.Info("faulty")
	text, err := json.Marshal(i)
	if err != nil || strings.Contains(string(text), `"pid"`) {
		t.Errorf("a plugin without a process says %s, %v", text, err)
	}
}

func TestOrdersAreToldFromCrashes(t *testing.T) {
	r := newRig(t, nil)
	if n := r.Ordered("faulty"); n != 0 {
		t.Errorf("of a plugin that is not there: %d", n)
	}
	r.ensure(faulty())
	last := r.Ordered("faulty")
	step := func(what string, changes bool, do func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if now := r.Ordered("faulty"); (now != last) != changes {
			t.Errorf("%s: %d, then %d", what, last, now)
		} else {
			last = now
		}
	}
	step("nothing to do", false, func() error { r.ensure(faulty()); return r.Start(r.ctx(), "faulty") })
	step("a crash", false, func() error {
		i, _ := r.Info("faulty")
		if err := syscall.Kill(i.PID, syscall.SIGKILL); err != nil {
			return err
		}
		r.until("faulty", "restarted", func(i Info) bool { return i.Generation == 2 && i.State == Ready })
		return nil
	})
	step("a reload", true, func() error { return r.Reload(r.ctx(), "faulty") })
	step("a restart", true, func() error { return r.Restart(r.ctx(), "faulty") })
	step("a stop", true, func() error { return r.Stop(r.ctx(), "faulty") })
	step("a start", true, func() error { return r.Start(r.ctx(), "faulty") })
	first := last
	step("removal", true, func() error { return r.Remove(r.ctx(), "faulty") })
	if r.ensure(faulty()); last != 0 || r.Ordered("faulty") <= first {
		t.Errorf("removed %d, there again %d, before %d", last, r.Ordered("faulty"), first)
	}
}

// A process that has ended is never shown as one that serves, however late the supervisor notices.
func TestADeadProcessIsNotShown(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	r.untilState("faulty", Ready)
	s, err := r.findSupervisor("faulty")
	if err != nil {
		t.Fatal(err)
	}
	cur := s.cur.Load()
	if err := syscall.Kill(cur.proc.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-cur.proc.Gone()
	if i, _ := r.Info("faulty"); i.PID == cur.proc.PID {
		t.Errorf("the dead process %d is shown, %s", i.PID, i.State)
	}
}
