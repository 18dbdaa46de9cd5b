//go:build peers

package rogue

import (
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ctl.internal/test/harness"
)

// neighbours is how many controllers run on this machine, every second of them in a PID namespace of its own.
const neighbours = 10

// Controllers that start, stop and are killed beside others never touch the plugins of those.
func TestControllersOnOneMachineLeaveEachOtherAlone(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: the peer, PID namespaces, needs root")
	}
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: the peer, unshare, is not here: %v", err)
	}
	all := make([]*neighbour, neighbours)
	for i := range all {
		o := harness.Options{Bin: bin, Files: map[string]string{"ctl.yaml": "supervisor: {stopGrace: 1s}\n"}}
		if i%2 == 1 {
			o.Before = []string{"unshare", "--pid", "--fork", "--mount-proc"}
		}
		n := &neighbour{Controller: harness.Run(t, o), inside: i%2 == 1}
		t.Cleanup(n.kill)
		n.Ctl("feature:install ctl-realm-ldap")
		n.look(t)
		all[i] = n
		harmless(t, all[:i], "the start of another")
	}
	random := rand.New(rand.NewPCG(32, 10))
	for range neighbours {
		i := random.IntN(neighbours)
		n := all[i]
		others := slices.Delete(slices.Clone(all), i, i+1)
		if n.inside || random.IntN(2) == 0 { // unshare does not pass SIGTERM on
			n.kill()
		} else {
			n.Stop()
		}
		harmless(t, others, "the end of another")
		harness.Within(t, "nothing of a controller that was killed is left", func() bool { return !anyAlive(n.plugins) })
		n.Launch()
		n.look(t)
		harmless(t, others, "the return of another")
	}
}

// neighbour is one of the controllers.
type neighbour struct {
	*harness.Controller
	inside  bool           // of a PID namespace of its own
	plugins map[int]string // start times of its plugins' processes, by pid outside
}

// kill is kill -9 of ctld itself: unshare ends with it.
func (n *neighbour) kill() {
	for pid, parent := range parents() {
		if n.inside && parent == n.PID() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	n.Kill()
}

// look notes the processes of the plugins once they serve.
func (n *neighbour) look(t *testing.T) {
	t.Helper()
	harness.Within(t, "the plugins of a controller serve", func() bool {
		return strings.Contains(n.Ctl("plugin:info realm-ldap --format json"), `"state": "ready"`)
	})
	n.plugins = map[int]string{}
	all := parents()
	for pid, parent := range all {
		exe, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
		if !strings.HasPrefix(exe, bin+"/plugins/") && !strings.HasPrefix(exe, bin+"/ctl-plugins") {
			continue
		}
		if parent == n.PID() || n.inside && all[parent] == n.PID() {
			n.plugins[pid] = startTime(pid)
		}
	}
	if len(n.plugins) == 0 {
		t.Fatalf("no process of a plugin of controller %d is seen, so this test shows nothing", n.PID())
	}
}

func harmless(t *testing.T, all []*neighbour, what string) {
	t.Helper()
	for _, n := range all {
		for pid, began := range n.plugins {
			if startTime(pid) != began {
				t.Fatalf("%s ended process %d, a plugin of controller %d (in a namespace: %v)", what, pid, n.PID(), n.inside)
			}
		}
	}
}

func anyAlive(plugins map[int]string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(plugins)), func(pid int) bool { return startTime(pid) == plugins[pid] })
}

// parents are those of all processes.
func parents() map[int]int {
	out := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		if f := stat(file); len(f) > 1 {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			out[pid], _ = strconv.Atoi(f[1])
		}
	}
	return out
}

// startTime is empty for a process that has ended.
func startTime(pid int) string {
	f := stat(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return ""
	}
	return f[19]
}

// stat are the fields of a process after its name.
func stat(file string) []string {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	s := string(b)
	return strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
}
