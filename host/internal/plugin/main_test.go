package plugin

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/events"
)

// faultyBinary is the misbehaving plugin, built once for all tests.
var faultyBinary string

func TestMain(m *testing.M) {
	if dir := os.Getenv("CTL_TEST_HOST"); dir != "" {
		tinyHost(dir)
		return
	}
	dir, err := os.MkdirTemp("", "faulty")
	if err != nil {
		panic(err)
	}
	faultyBinary = filepath.Join(dir, "faulty")
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	out, err := exec.CommandContext(ctx, "go", "build", "-o", faultyBinary, "ctl.internal/sdk/plugintest/faulty").CombinedOutput()
	cancel()
	if err != nil {
		fmt.Fprintf(os.Stderr, "the faulty plugin does not build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// logBuffer collects the host's log.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// count returns how often the log holds s.
func (b *logBuffer) count(s string) int { return strings.Count(b.String(), s) }

// quick are limits that let faults show soon. A ping may take long, as on a machine
// that is busy: only the test of a frozen plugin counts on one that is not answered.
var quick = func() Limits {
	l := DefaultLimits
	l.StopGrace, l.PingEvery, l.PingTimeout, l.StartTimeout, l.DrainTimeout = 20*time.Second, 100*time.Millisecond, 20*time.Second, time.Minute, time.Minute
	l.LogRate = 1000
	return l
}()

var quickPolicy = Policy{FirstDelay: 20 * time.Millisecond, MaxDelay: 100 * time.Millisecond, StableAfter: time.Minute, UnhealthyAfter: time.Minute}

// testOptions are those without a log, services and settings.
func testOptions(run, data string) Options {
	return Options{RunDir: run, DataDir: data, Limits: quick, Policy: quickPolicy, Bus: events.New(), Refused: func(string, grant.Grant) {},
		Logger:   func(string) *slog.Logger { return slog.New(slog.DiscardHandler) },
		Settings: func(string, []byte) ([]byte, error) { return nil, nil }}
}

type rig struct {
	*Manager
	log *logBuffer
	t   testing.TB
}

// newRig returns a manager in a directory of its own; change may alter its options.
func newRig(t testing.TB, change func(*Options)) *rig {
	t.Helper()
	r := &rig{log: &logBuffer{}, t: t}
	home := t.TempDir()
	o := testOptions(filepath.Join(home, "run"), filepath.Join(home, "data"))
	o.Isolation, o.Logger = "required", func(name string) *slog.Logger {
		return slog.New(slog.NewJSONHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug - 4})).With("logger", name)
	}
	if change != nil {
		change(&o)
	}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Manager = m
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := m.Close(ctx); err != nil {
			t.Errorf("closing: %v", err)
		}
		for _, left := range entries(m.runDir) {
			if left.Name() != "lock" {
				t.Errorf("left in the run directory: %v", left)
			}
		}
		if _, err := os.Stat(m.runDir); m.runDir != o.RunDir && !os.IsNotExist(err) {
			t.Errorf("the run directory %s outside the home is left", m.runDir)
		}
		if t.Failed() {
			t.Log(r.log.String())
		}
	})
	return r
}

func entries(dir string) []os.DirEntry {
	list, _ := os.ReadDir(dir) // not there: none
	return list
}

// faultyGrants are what the faulty plugin requests, but the certificate.
var faultyGrants = grant.Held{}.Grant("test", time.Time{}, grant.Grant{Kind: grant.Service, Value: "*"}, grant.Grant{Kind: grant.Plugins, Value: "*"},
	grant.Grant{Kind: grant.RPC, Value: "*"}).Refuse("test", time.Time{}, grant.Grant{Kind: grant.Certificate, Value: "*"})

// faulty is the spec of the misbehaving plugin; words go into its environment.
func faulty(words ...string) Spec {
	s := Spec{Name: "faulty", Path: faultyBinary, Held: faultyGrants}
	if len(words) > 0 {
		s.Env = []string{"FAULTY=" + strings.Join(words, " ")}
	}
	return s
}

func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	r.t.Cleanup(cancel)
	return ctx
}

func (r *rig) ensure(s Spec) {
	r.t.Helper()
	if err := r.Ensure(r.ctx(), s); err != nil {
		r.t.Fatalf("start: %v\n%s", err, r.log)
	}
}

// call invokes an RPC of the faulty plugin.
func (r *rig) call(rpc, input string) (string, error) {
	out, err := r.Invoke(r.ctx(), "faulty", rpc, []byte(input))
	return string(out), err
}

func (r *rig) must(rpc, input string) string {
	r.t.Helper()
	out, err := r.call(rpc, input)
	if err != nil {
		r.t.Fatalf("%s: %v", rpc, err)
	}
	return out
}

// until waits for a plugin's state.
func (r *rig) until(name, what string, ok func(Info) bool) Info {
	r.t.Helper()
	deadline := time.After(time.Minute)
	for {
		changed := r.Changed()
		info, err := r.Info(name)
		if err == nil && ok(info) {
			return info
		}
		select {
		case <-changed:
		case <-deadline:
			r.t.Fatalf("%s is not %s: %+v", name, what, info)
		}
	}
}

func (r *rig) untilState(name string, want State) Info {
	r.t.Helper()
	return r.until(name, want.String(), func(i Info) bool { return i.State == want })
}
