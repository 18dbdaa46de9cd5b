package plugin

import (
	"bytes"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/common/expfmt"

	"ctl.internal/host/internal/plugin/topomirror"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

var _ topomirror.Sources = (*Manager)(nil)

func TestRoutes(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	w := httptest.NewRecorder()
	begun, err := r.ServeRoute(w, httptest.NewRequest("POST", "/faulty/x", strings.NewReader("body")), "faulty")
	if !begun || err != nil || w.Body.String() != "body" || w.Header().Get("X-Path") != "/faulty/x" {
		t.Errorf("POST: %v, %v, %q", begun, err, w.Body)
	}
	r.until("faulty", "idle", func(i Info) bool { r.must2("echo"); r.changed.Fire(); return i.InFlight == 0 })
	// A GET right after a kill waits for the new process.
	i, _ := r.Info("faulty")
	_ = syscall.Kill(i.PID, syscall.SIGKILL)
	w = httptest.NewRecorder()
	if begun, err := r.ServeRoute(w, httptest.NewRequest("GET", "/faulty/y", nil), "faulty"); !begun || err != nil || w.Header().Get("X-Path") != "/faulty/y" {
		t.Errorf("GET after a kill: %v, %v", begun, err)
	}
	w = httptest.NewRecorder()
	if begun, err := r.ServeRoute(w, httptest.NewRequest("GET", "/faulty/panic", nil), "faulty"); begun || fault.KindOf(err) != fault.Internal {
		t.Errorf("a panic: %v, %v", begun, err)
	}
}

func TestCommands(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	conn, err := r.Conn("faulty")
	if err != nil {
		t.Fatal(err)
	}
	i, _ := r.Info("faulty")
	c, ok := commands.Find(commands.FromProto(i.Manifest.Commands, commands.NewClient(conn)), "faulty:say")
	if !ok {
		t.Fatal("no command faulty:say")
	}
	var out bytes.Buffer
	err = c.Run(r.ctx(), &commands.Invocation{Name: "faulty:say", Positional: []string{"hello"}, Stdin: commands.NoInput, Stdout: &out, Stderr: &out})
	if err != nil || out.String() != "hello\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestMetricsCarryThePlugin(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	r.ensure(second())
	r.must("echo", "{}")
	if err := r.Stop(r.ctx(), "second"); err != nil {
		t.Fatal(err)
	}
	fams, err := r.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, f := range fams {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		`ctl_plugin_up{plugin="faulty"} 1`, `ctl_plugin_up{plugin="second"} 0`, `ctl_plugin_scraped{plugin="second"} 0`,
		`ctl_plugin_calls_total{plugin="faulty"} 1`, `go_goroutines{plugin="faulty"}`, `plugin="faulty",le="+Inf"`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

func TestHealthIsFollowed(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	r.must("health", `{"state":"degraded","text":"port 162 is taken"}`)
	if i := r.untilState("faulty", Degraded); i.Reason != "port 162 is taken" {
		t.Errorf("reason %q", i.Reason)
	}
	r.must("health", `{"state":"healthy"}`)
	r.untilState("faulty", Ready)
}

func TestAPluginThatCallsItselfFailedIsRestarted(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Policy.UnhealthyAfter = 100e6 })
	r.ensure(faulty())
	r.must("health", `{"state":"failed","text":"no database"}`)
	i := r.until("faulty", "restarted", func(i Info) bool { return i.State == Ready && i.Generation == 2 })
	if !strings.Contains(i.LastError, "called itself failed for too long: no database") {
		t.Errorf("last error %q", i.LastError)
	}
}

func TestADebuggedPluginIsAttached(t *testing.T) {
	process, attach := startDebug(t)
	t.Setenv("FAULTY_REATTACH", attach)
	r := newRig(t, nil)
	r.ensure(faulty())
	r.must("echo", `{"text":"x"}`)
	if _, err := r.host(r.ctx(), "providers", "topology"); err != nil {
		t.Errorf("a call to the host: %v", err)
	}
	i, _ := r.Info("faulty")
	if !i.Debugger || i.PID != process || r.log.count("under a debugger") != 1 {
		t.Errorf("info: %+v", i)
	}
	if err := r.Remove(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	if !alive(process) {
		t.Error("the process under the debugger was ended")
	}
	t.Setenv("FAULTY_REATTACH", "nonsense")
	if got := startFails(t, r, faulty()); !strings.Contains(got, "FAULTY_REATTACH") {
		t.Error(got)
	}
	_ = os.Unsetenv("FAULTY_REATTACH")
}
