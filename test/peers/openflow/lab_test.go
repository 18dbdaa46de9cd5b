//go:build peers

package openflowpeers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/plugins/openflow/service"
	"ctl.internal/sdk"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/sdk/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const root = "../../.."

// ring is a running lab.
type ring struct {
	t        *testing.T
	switches int
	dir      string // sockets, database
	env      []string
}

// need skips the test, loudly, when a peer cannot be had here.
func need(t *testing.T, tools ...string) {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED, NOT TESTED: the peer %s is not installed (test/peers/install.sh installs it as root)", tool)
		}
	}
}

// newRing prepares a ring of switches that will connect to address; up starts it. It
// ends with the test.
func newRing(t *testing.T, switches int, controller string, env ...string) *ring {
	t.Helper()
	need(t, "ovs-vswitchd", "ovsdb-server", "ovs-vsctl", "ovs-ofctl", "ovs-appctl", "ovsdb-tool")
	swept.Do(sweep)
	r := &ring{t: t, switches: switches, dir: fmt.Sprint(labDir(), reserve.Number(t, "ofl", 10_000, 99_999))}
	r.env = append(os.Environ(), append([]string{fmt.Sprint("LAB_SWITCHES=", switches), "LAB_CONTROLLER=" + controller, "LAB_DIR=" + r.dir}, env...)...)
	t.Cleanup(func() { r.lab("down") })
	return r
}

// labDir is how the folders of rings begin; they are short, for the sockets in them.
func labDir() string { return filepath.Join(os.TempDir(), "ofl-") }

var swept sync.Once

// sweep takes down the rings of tests that were killed: those whose number is not reserved.
func sweep() {
	dirs, _ := filepath.Glob(labDir() + "*")
	for _, dir := range dirs {
		if n, err := strconv.Atoi(strings.TrimPrefix(dir, labDir())); err == nil {
			reserve.Free("ofl", n, func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				c := exec.CommandContext(ctx, filepath.Join(root, "test", "labs", "lab-ovs.sh"), "down")
				c.Env = append(os.Environ(), "LAB_DIR="+dir)
				_ = c.Run()
			})
		}
	}
}

// lab runs the lab's script.
func (r *ring) lab(args ...string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(root, "test", "labs", "lab-ovs.sh"), args...)
	c.Env, c.WaitDelay = r.env, time.Second // the daemons of the lab outlive the script
	if out, err := c.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		r.t.Fatalf("lab-ovs.sh %v: %v\n%s", args, err, out)
	}
}

// ofctl runs ovs-ofctl against a switch of the ring.
func (r *ring) ofctl(command string, i int, args ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	all := append([]string{"-O", "OpenFlow13", command, fmt.Sprintf("unix:%s/s%d.mgmt", r.dir, i)}, args...)
	out, err := exec.CommandContext(ctx, "ovs-ofctl", all...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("ovs-ofctl %v: %v\n%s", all, err, out)
	}
	return string(out)
}

// want are the links that the ring has, without those of the cables that were cut:
// cable I is between port 1 of switch I and port 2 of the next.
func (r *ring) want(cut ...int) map[string]string {
	out := map[string]string{}
	for i := 1; i <= r.switches; i++ {
		a, b := fmt.Sprintf("openflow:%d:1", i), fmt.Sprintf("openflow:%d:2", i%r.switches+1)
		out[a], out[b] = b, a
	}
	for _, i := range cut {
		delete(out, fmt.Sprintf("openflow:%d:1", i))
		delete(out, fmt.Sprintf("openflow:%d:2", i%r.switches+1))
	}
	return out
}

// freePort is an address of the loopback interface that is this test's own.
func freePort(t *testing.T) string {
	t.Helper()
	return fmt.Sprint("127.0.0.1:", reserve.Port(t, "tcp", "127.0.0.1"))
}

// patiently asks again until it is so.
func patiently(t *testing.T, what string, so func() bool) {
	t.Helper()
	end := time.Now().Add(2 * time.Minute)
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for ; !so(); <-again.C {
		if time.Now().After(end) {
			t.Fatalf("in vain waited for: %s", what)
		}
	}
}

// plugin starts the plugin under test, as the host would.
func plugin(t *testing.T, listen string, settings map[string]any) *plugintest.Plugin {
	t.Helper()
	dir := filepath.Join(root, "plugins", "openflow")
	manifest, err := os.ReadFile(filepath.Join(dir, "plugin.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{"listen": listen}
	for k, v := range settings {
		all[k] = v
	}
	return plugintest.Start(t, sdk.Options{Manifest: manifest, YANG: os.DirFS(dir), New: service.New, Commands: service.Commands()}, plugintest.WithConfig(all))
}

// follow watches the topology of a plugin until done says so, and fails when a link
// is seen that never was one.
func follow(t *testing.T, p *plugintest.Plugin, r *ring, done func(topology.Topology) bool) topology.Topology {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var view topology.Topology
	all, enough := r.want(), errors.New("enough")
	err := topology.NewClient(p.Conn).Watch(ctx, []string{"flow:1"}, func(c topology.Change) error {
		view = view.Apply(c)
		for id, l := range view.Links {
			if l.SourceTP != id || all[id] != l.DestTP {
				t.Errorf("the link %s to %s was invented", id, l.DestTP)
				return enough
			}
		}
		if done(view) {
			return enough
		}
		return nil
	}, func() {})
	if !errors.Is(err, enough) {
		t.Fatalf("the topology ended with %d nodes and %d links: %v", len(view.Nodes), len(view.Links), err)
	}
	return view
}

// complete reports whether all switches and all links of the ring are seen, but for
// the cables that were cut.
func (r *ring) complete(cut ...int) func(topology.Topology) bool {
	want := r.want(cut...)
	return func(t topology.Topology) bool {
		if len(t.Nodes) != r.switches || len(t.Links) != len(want) {
			return false
		}
		for from := range want {
			if _, ok := t.Links[from]; !ok {
				return false
			}
		}
		return true
	}
}
