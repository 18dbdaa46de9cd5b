package process

import (
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Fault 6: a pid alone does not identify a process.
func TestSweepEndsOnlyTheVeryProcess(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*record)
		killed bool
	}{
		{"the very process", func(*record) {}, true},
		{"another start time", func(r *record) { r.StartTime++ }, false},
		{"another executable", func(r *record) { r.Executable = "/bin/other" }, false},
		{"another namespace", func(r *record) { r.Namespace = "pid:[1]" }, false},
		{"no namespace", func(r *record) { r.Namespace = "" }, false},
		{"before the machine was started", func(r *record) { r.Boot = "x" }, false},
		{"no boot id", func(r *record) { r.Boot = "" }, false},
		{"no start time", func(r *record) { r.StartTime = 0 }, false},
		{"process 1", func(r *record) { r.PID = 1 }, false},
		{"process 0", func(r *record) { r.PID = 0 }, false},
		{"all processes", func(r *record) { r.PID = -1 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("sleep", "300")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			run := t.TempDir()
			dir := filepath.Join(run, "x", "p1")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := writeRecord(dir, cmd.Process.Pid); err != nil {
				t.Fatal(err)
			}
			edit(t, filepath.Join(dir, recordFile), c.change)
			sweep(t, run)
			if !c.killed {
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
			_ = cmd.Wait()
			by := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal()
			if (by == syscall.SIGKILL) != c.killed {
				t.Errorf("ended by %v", by)
			}
			if left, err := os.ReadDir(run); err == nil {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// sweep does what the next controller of the run directory does first.
func sweep(t *testing.T, run string) {
	t.Helper()
	l := locked(t, run)
	if err := l.Sweep(slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	l.Release(true)
}

func locked(t *testing.T, run string) *RunLock {
	t.Helper()
	l, err := LockRunDir(run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Release(false) })
	return l
}

func edit(t *testing.T, file string, change func(*record)) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	change(&r)
	if b, err = json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSweepSurvivesDamagedRecords(t *testing.T) {
	run := t.TempDir()
	for name, text := range map[string]string{"a": "", "b": "{", "c": `{"pid":"x"}`} {
		dir := filepath.Join(run, name, "p1")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, recordFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sweep(t, run)
}

func TestAProcessNobodyWaitedForIsNotAlive(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	i := ident{PID: cmd.Process.Pid, StartTime: startTime(cmd.Process.Pid)}
	if !i.isAlive() {
		t.Error("a running process is not alive")
	}
	in.Close()
	// WNOWAIT sees its end and leaves it as init without a reaper would.
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PID, i.PID, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if i.isAlive() {
		t.Error("a process that ended is alive")
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
