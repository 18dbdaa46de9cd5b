package plugin

import (
	"os"
	"strings"
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
