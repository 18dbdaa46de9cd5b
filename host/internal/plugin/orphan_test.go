package plugin

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

func itoa(n int) string { return strconv.Itoa(n) }

// tinyHost is what the test binary does when it is started as a host: it runs the
// faulty plugin until it is killed.
func tinyHost(dir string) {
	m, err := New(testOptions(filepath.Join(dir, "run"), filepath.Join(dir, "data")))
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	if err := m.Ensure(context.Background(), Spec{Name: "faulty", Path: os.Getenv("CTL_TEST_PLUGIN"), Held: faultyGrants}); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	i, _ := m.Info("faulty")
	fmt.Println("plugin", i.PID)
	select {}
}

// startTinyHost returns a host process and the pid of its plugin.
func startTinyHost(t *testing.T, dir string) (*exec.Cmd, int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CTL_TEST_HOST="+dir, "CTL_TEST_PLUGIN="+faultyBinary)
	line := harness.Says(t, cmd, "plugin ")
	pid, err := strconv.Atoi(strings.TrimPrefix(line, "plugin "))
	if err != nil {
		t.Fatalf("the host says %q", line)
	}
	return cmd, pid
}

func TestFault05And07NothingOutlivesAKilledHost(t *testing.T) {
	dir, err := os.MkdirTemp("", "host") // short, so that the sockets lie in it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	cmd, pid := startTinyHost(t, dir)
	run := filepath.Join(dir, "run")
	if left, _ := filepath.Glob(filepath.Join(run, "faulty", "*")); len(left) < 2 {
		t.Fatalf("the run directory holds %v", left)
	}
	// A second host must not take the directory over while the first one lives.
	if _, err := New(testOptions(run, dir)); err == nil || !strings.Contains(err.Error(), "in use by another controller") {
		t.Errorf("a second host: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for running(pid) {
		if ctx.Err() != nil {
			t.Fatalf("plugin process %d outlives its host", pid)
		}
		_ = exec.CommandContext(ctx, "true").Run() // lets the kernel deliver the signal
	}
	m, err := New(testOptions(run, dir))
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(run, "*", "*")); len(left) > 0 {
		t.Errorf("the next start leaves %v", left)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// startDebug starts the faulty plugin as its author does under a debugger and
// returns its pid and the value it prints for the host.
func startDebug(t *testing.T) (int, string) {
	t.Helper()
	cmd := exec.Command(faultyBinary, "--debug")
	cmd.Dir = t.TempDir()
	line := harness.Says(t, cmd, "FAULTY_REATTACH='")
	return cmd.Process.Pid, strings.TrimSuffix(strings.TrimPrefix(line, "FAULTY_REATTACH='"), "'")
}
