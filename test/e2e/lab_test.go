package e2e

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// tree is a source tree as far as make run needs one, at a path with blanks.
func tree(t *testing.T) (dir string, run func(env []string, command string) (string, error)) {
	t.Helper()
	dir = filepath.Join(filepath.Dir(harness.NewHome(t)), "a tree with blanks")
	script, err := os.ReadFile("../labs/run.sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "test", "labs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "test", "labs", "run.sh"), script, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(bin, filepath.Join(dir, "bin")); err != nil {
		t.Fatal(err)
	}
	run = func(env []string, command string) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, filepath.Join(dir, "test", "labs", "run.sh"), command)
		cmd.Env = append(os.Environ(), "LAB_TOPOLOGY=chain:2", "CTL_HTTP=127.0.0.1:0", "CTL_SSH=127.0.0.1:0", "CTL_RESTCONF=127.0.0.1:0", "CTL_ADMIN=127.0.0.1:0")
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Cleanup(func() {
		if out, err := run(nil, "stop"); err != nil {
			t.Errorf("stop: %v\n%s", err, out)
		}
	})
	return dir, run
}

func TestTheLabOfMakeRun(t *testing.T) {
	dir, run := tree(t)
	out, err := run(nil, "start")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(out, "2 of 2 switches answered") || !strings.Contains(out, "  bin/ctl  ") || strings.Contains(out, "\x1b[") {
		t.Errorf("without a terminal it says\n%s", out)
	}
	if out, err := run(nil, "start"); err == nil || !strings.Contains(out, "it runs already") {
		t.Errorf("the second start: %v\n%s", err, out)
	}
	if out, err := run(nil, "stop"); err != nil || strings.TrimSpace(out) != "stopped" {
		t.Errorf("stop: %v\n%s", err, out)
	}
	nothingRuns(t, dir)
}

func TestTheLabOfMakeRunWithATakenPort(t *testing.T) {
	dir, run := tree(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	out, err := run([]string{"CTL_HTTP=" + taken.Addr().String()}, "start")
	if err == nil {
		t.Fatalf("it started\n%s", out)
	}
	for _, want := range []string{"cannot open " + taken.Addr().String(), "take other ports: CTL_HTTP="} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	nothingRuns(t, dir)
}

// nothingRuns reports that neither the controller nor the lab still runs.
func nothingRuns(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "run", "lab", "*.pid"))
	if err != nil || len(left) != 0 {
		t.Errorf("not removed: %v %v", left, err)
	}
}
