package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

func TestARunDirectoryHasOneController(t *testing.T) {
	run := t.TempDir()
	first := locked(t, run)
	if _, err := LockRunDir(run); err == nil || !strings.Contains(err.Error(), run+" is in use by another controller") {
		t.Errorf("a second controller: %v", err)
	}
	first.Release(false)
	second := locked(t, run)
	if second.ID() != first.ID() {
		t.Error("the next controller of a directory does not recognise what the one before has left")
	}
	if other := locked(t, t.TempDir()); other.ID() == second.ID() {
		t.Error("controllers of two directories have the same ID")
	}
	second.Release(true)
	if _, err := os.Stat(run); err == nil {
		t.Error("the directory is left")
	}
	third := newRunDir(t, run)
	second.Release(true) // again: that of the third must stay
	if _, err := os.Stat(filepath.Join(run, "lock")); err != nil {
		t.Error(err)
	}
	third.Release(true)
}

func newRunDir(t *testing.T, run string) *RunLock {
	t.Helper()
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	return locked(t, run)
}

// The group of a plugin of another controller stays, whatever number is in its name: a controller in another PID
// namespace has a number that no process has here.
func TestSweepLeavesTheGroupsOfOtherControllers(t *testing.T) {
	run := t.TempDir()
	lock := locked(t, run)
	g := findGroups(Quota{}, lock)
	if g.dir == "" {
		t.Skipf("SKIPPED, NOT TESTED: the peer, control groups, is not here: %s", strings.Join(g.missing, "; "))
	}
	const ended = "4194305" // no process has this number: it is above the greatest
	for name, swept := range map[string]bool{
		"ctl-" + ended + "-1": false,
		"ctl-" + locked(t, t.TempDir()).ID() + "-" + ended + "-1": false,
		g.prefix + ended + "-1":                                   true,
		g.prefix + strconv.Itoa(os.Getpid()) + "-1":               true, // the number of an ended one was given again
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("sleep", "300")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() { defer close(ended); _ = cmd.Wait() }()
			old := &group{filepath.Join(g.dir, name)}
			t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended; old.remove() })
			if err := os.Mkdir(old.dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := writeControl(old.dir, "cgroup.procs", strconv.Itoa(cmd.Process.Pid)); err != nil {
				t.Fatal(err)
			}
			lock.Release(false)
			lock = locked(t, run)
			findGroups(Quota{}, lock)
			if !swept {
				if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
					t.Errorf("the process of another controller: %v", err)
				}
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Fatal("the process was left")
			}
			if by := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); (by == syscall.SIGKILL) != swept {
				t.Errorf("ended by %v", by)
			}
		})
	}
}

func TestProcOfAnotherNamespaceIsRefused(t *testing.T) {
	if os.Getenv("CTL_TEST_OWN_PROC") != "" {
		if err := ownProc(); err != nil {
			t.Fatal(err)
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: the peer, a PID namespace, needs root")
	}
	for name, c := range map[string]struct {
		flags []string
		want  string
	}{
		"with its own /proc": {[]string{"--mount-proc"}, ""},
		"with another's":     {nil, "/proc shows the processes of another PID namespace"},
	} {
		args := append(append([]string{"--pid", "--fork"}, c.flags...), os.Args[0], "-test.run=^TestProcOfAnotherNamespaceIsRefused$")
		cmd := exec.CommandContext(harness.Deadline(t), "unshare", args...)
		cmd.Env = append(os.Environ(), "CTL_TEST_OWN_PROC=1")
		out, err := cmd.CombinedOutput()
		if (err == nil) != (c.want == "") || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
