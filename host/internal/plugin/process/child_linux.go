package process

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// child is an operating-system process in a process group of its own.
type child struct {
	pid  int
	done chan struct{} // closed when the process is reaped and its group killed

	mu     sync.Mutex
	reaped bool // the pid may belong to another process now
	state  *os.ProcessState
}

// startChild starts cmd, whose streams must be files. The process dies with the
// host: the kernel's signal for that follows the thread that forked, hence a thread
// that does nothing else and lives as long as the child.
func startChild(cmd *exec.Cmd) (*child, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	c := &child{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // not unlocked: the thread ends with this goroutine
		err := cmd.Start()
		if err == nil {
			c.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			c.wait(cmd)
		}
	}()
	return c, <-started
}

// wait reaps the child. Its group is killed while the dead child still holds the
// pid, so the signal can reach nobody else.
func (c *child) wait(cmd *exec.Cmd) {
	defer close(c.done)
	for {
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_PID, c.pid, &info, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = unix.Kill(-c.pid, unix.SIGKILL)
	_ = cmd.Wait() // how it ended is in ProcessState
	c.state = cmd.ProcessState
	c.reaped = true
}

// kill ends the whole group at once.
func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		_ = unix.Kill(-c.pid, unix.SIGKILL)
	}
}

// exit describes the end; only after done.
func (c *child) exit() Exit {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := Exit{Code: -1}
	if c.state == nil {
		return e
	}
	e.Code = c.state.ExitCode()
	if ws, ok := c.state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal = ws.Signal().String()
	}
	return e
}
