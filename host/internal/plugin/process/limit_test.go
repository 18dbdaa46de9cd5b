package process

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ctl.internal/test/harness"
)

// A limit that cannot be set is named, with what is needed for it; one that is lower already is no fault.
func TestALimitThatCannotBeSetIsNamed(t *testing.T) {
	cmd := exec.CommandContext(harness.Deadline(t), "sleep", "300")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	pid := cmd.Process.Pid
	if err := limitProcess(pid, 0, map[int]uint64{unix.RLIMIT_DATA: 1 << 30, unix.RLIMIT_CORE: 0}); err != nil {
		t.Error(err)
	}
	if err := limitProcess(pid, 0, map[int]uint64{unix.RLIMIT_DATA: 2 << 30}); err != nil {
		t.Errorf("a limit that is lower already: %v", err)
	}
	var have unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_DATA, nil, &have); err != nil || have.Max != 1<<30 {
		t.Errorf("the limit was raised to %d, %v", have.Max, err)
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: the peer, a process of another user, needs root")
	}
	err := limitProcess(pid, lastUser, map[int]uint64{unix.RLIMIT_DATA: 1 << 20}) // that user may not do it to a process of root
	if err == nil || !strings.Contains(err.Error(), "prlimit RLIMIT_DATA (memory) of process") || !strings.Contains(err.Error(), "CAP_SYS_RESOURCE") {
		t.Errorf("said: %v", err)
	}
}
