//go:build peers

package openflowpeers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/topology"
)

const mark = "cookie=0x63746c2d6c6c6470"

// The plugin programs two rules and nothing else, and removes both when it stops;
// the rules of others stay.
func TestRules(t *testing.T) {
	listen := freePort(t)
	r := newRing(t, 3, "tcp:"+listen)
	r.lab("up")
	r.ofctl("add-flow", 1, "priority=7,in_port=1,actions=drop")
	r.ofctl("add-flow", 2, "priority=0,actions=normal") // a table-miss rule of another controller
	p := plugin(t, listen, nil)
	follow(t, p, r, r.complete())
	for i, want := range map[int]int{1: 2, 2: 1, 3: 2} {
		if flows := r.ofctl("dump-flows", i); strings.Count(flows, mark) != want || !strings.Contains(flows, "priority=65535,dl_type=0x88cc actions=CONTROLLER:65535") {
			t.Errorf("switch %d has not %d rules of the plugin:\n%s", i, want, flows)
		}
	}
	p.Stop()
	for i, kept := range []string{1: "priority=7,in_port=1", 2: "actions=NORMAL", 3: ""} {
		if i == 0 {
			continue
		}
		if flows := r.ofctl("dump-flows", i); strings.Contains(flows, mark) || !strings.Contains(flows, kept) {
			t.Errorf("switch %d after the end of the plugin:\n%s", i, flows)
		}
	}
}

// Switches die without a word and come back; then the plugin is replaced. The
// topology never has a link that is not there, and is complete again each time.
func TestSwitchesAndPluginComeBack(t *testing.T) {
	listen := freePort(t)
	r := newRing(t, 6, "tcp:"+listen)
	p := plugin(t, listen, nil)
	r.lab("up")
	follow(t, p, r, r.complete())
	raw, err := os.ReadFile(filepath.Join(r.dir, "vswitchd.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	follow(t, p, r, func(v topology.Topology) bool { return len(v.Nodes) == 0 && len(v.Links) == 0 })
	r.lab("down")
	r.lab("up")
	follow(t, p, r, r.complete())
	p.Stop()
	r.lab("link", "3", "down") // no message is sent
	p = plugin(t, listen, nil)
	follow(t, p, r, r.complete(3))
	r.lab("link", "3", "up")
	follow(t, p, r, r.complete())
}

// A switch that stops (not dies) is given up when it does not answer.
func TestSilentSwitchIsGivenUp(t *testing.T) {
	listen := freePort(t)
	r := newRing(t, 3, "tcp:"+listen)
	p := plugin(t, listen, map[string]any{"liveness": map[string]any{"echo": "200ms", "dead": "1s"}})
	r.lab("up")
	follow(t, p, r, r.complete())
	raw, err := os.ReadFile(filepath.Join(r.dir, "vswitchd.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	follow(t, p, r, func(v topology.Topology) bool { return len(v.Nodes) == 0 })
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	follow(t, p, r, r.complete())
}

// Which versions a switch offers decides whether it is served.
func TestVersions(t *testing.T) {
	for protocols, served := range map[string]bool{
		"OpenFlow10":                       false,
		"OpenFlow14,OpenFlow15":            false,
		"OpenFlow13,OpenFlow14,OpenFlow15": true,
		"OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15": true,
	} {
		t.Run(protocols, func(t *testing.T) {
			listen := freePort(t)
			r := newRing(t, 3, "tcp:"+listen, "LAB_PROTOCOLS="+protocols)
			p := plugin(t, listen, nil)
			r.lab("up")
			if served {
				follow(t, p, r, r.complete())
				return
			}
			patiently(t, "three switches are refused", func() bool { return counter(t, p, "connections-refused") >= 3 })
			if out := shell(t, p, "openflow:nodes"); !strings.Contains(out, "No switch is connected") {
				t.Errorf("a switch without OpenFlow 1.3 is shown:\n%s", out)
			}
		})
	}
}

// As master, the plugin gets its role over and over, whatever generation the
// switch has seen.
func TestMasterRole(t *testing.T) {
	listen := freePort(t)
	r := newRing(t, 3, "tcp:"+listen)
	r.lab("up")
	for range 2 {
		p := plugin(t, listen, map[string]any{"role": "master"})
		follow(t, p, r, r.complete())
		if out := shell(t, p, "openflow:nodes"); strings.Count(out, "master") != 3 {
			t.Errorf("not master of three switches:\n%s", out)
		}
		p.Stop()
	}
}

// What the console shows of real switches.
func TestCommands(t *testing.T) {
	listen := freePort(t)
	r := newRing(t, 3, "tcp:"+listen)
	p := plugin(t, listen, map[string]any{"statistics": "1s"})
	r.lab("up")
	follow(t, p, r, r.complete())
	for line, want := range map[string]string{
		"openflow:nodes":            "0000000000000001",
		"openflow:links":            "openflow:1:1 | openflow:2:2",
		"openflow:ports":            "openflow:3:LOCAL",
		"openflow:links openflow:2": "openflow:2:1 | openflow:3:2",
	} {
		f := strings.Fields(line)
		if out := shell(t, p, f[0], f[1:]...); !strings.Contains(out, want) {
			t.Errorf("%s does not show %q:\n%s", line, want, out)
		}
	}
	var links []struct {
		From string `json:"source-tp"`
		To   string `json:"dest-tp"`
		Both bool   `json:"both"`
	}
	if err := json.Unmarshal([]byte(shellJSON(t, p, "openflow:links")), &links); err != nil || len(links) != 6 {
		t.Fatalf("%v, %d links, want 6", err, len(links))
	}
	for _, l := range links {
		if r.want()[l.From] != l.To || !l.Both {
			t.Errorf("wrong link %+v", l)
		}
	}
	patiently(t, "counters", func() bool { // they are read every second
		var ports []struct {
			ID string `json:"tp-id"`
			Rx *int64 `json:"rx-packets"`
		}
		if err := json.Unmarshal([]byte(shellJSON(t, p, "openflow:ports", "openflow:2")), &ports); err != nil || len(ports) != 3 {
			t.Fatalf("%v: %d ports", err, len(ports))
		}
		return ports[0].Rx != nil && *ports[0].Rx > 0
	})
}

func shell(t *testing.T, p *plugintest.Plugin, name string, args ...string) string {
	t.Helper()
	out, err := p.Shell(t.Context(), name, args, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

func shellJSON(t *testing.T, p *plugintest.Plugin, name string, args ...string) string {
	t.Helper()
	var out strings.Builder
	err := commands.NewClient(p.Conn).Execute(t.Context(), &commands.Invocation{Name: name, Positional: args, Format: "json",
		Stdin: commands.NoInput, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out.String()
}

func counter(t *testing.T, p *plugintest.Plugin, name string) int {
	t.Helper()
	for _, line := range strings.Split(shell(t, p, "openflow:counters"), "\n") {
		var v int
		if f := strings.Fields(line); len(f) == 3 && f[0] == name {
			if _, err := fmt.Sscan(f[2], &v); err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("no counter %s", name)
	return 0
}
