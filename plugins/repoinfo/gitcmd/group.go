package gitcmd

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// own puts the child in a process group of its own, so that git's helpers
// (remote-https, index-pack) end with it, and asks the kernel to end it when
// this process dies without a word.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
