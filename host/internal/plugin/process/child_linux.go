package process

import (
	"errors"
	"fmt"
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
	done chan struct{} // closed when the process is reaped and all that it left is killed

	ready  chan struct{} // closed when pid and group are set
	keeper *Keeper
	group  *group

	unlimited error // why a limit of it was not set

	mu     sync.Mutex
	reaped bool // the pid may belong to another process now
	state  *os.ProcessState
}

// startChild starts cmd, whose streams must be files. The process dies with the
// host: the kernel's signal for that follows the thread that forked, hence a thread
// that does nothing else and lives as long as the child.
func startChild(cmd *exec.Cmd, within *bounds, keeper *Keeper) (*child, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:   true,
		Pdeathsig: syscall.SIGKILL,
	}
	user := 0
	if within != nil && within.User != 0 {
		user = within.User
		cmd.SysProcAttr.Credential = &syscall.Credential{
			Uid: uint32(within.User),
			Gid: pluginsGroup,
		}
		cmd.SysProcAttr.AmbientCaps = within.capabilities
	}
	c := &child{
		done:   make(chan struct{}),
		ready:  make(chan struct{}),
		keeper: keeper,
	}
	none, err := os.Open(os.DevNull) // here, because the thread may not be able to
	if err != nil {
		return nil, err
	}
	defer none.Close()
	cmd.Stdin = none
	started := make(chan error)
	c.pid, c.group, err = keeper.startProcess(user, func() (int, error) {
		go onThread(func() {
			err := isolateForChild(within)
			if err == nil {
				err = cmd.Start()
			}
			started <- err
			if err == nil {
				c.waitAndReap(cmd)
			}
		})
		if err := <-started; err != nil {
			return 0, err
		}
		return cmd.Process.Pid, nil
	})
	if err == nil && within != nil {
		c.unlimited = limitChild(c.pid, within.Isolate)
	}
	close(c.ready)
	return c, err
}

// onThread runs f on a thread that ends with it. The main thread never ends, so it is left alone.
func onThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return // still locked: the thread ends with the goroutine
	}
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread() // another thread: this one is taken
		defer close(done)
		f()
	}()
	<-done
	runtime.UnlockOSThread()
}

// isolateForChild restricts the calling thread for the child that it will start.
func isolateForChild(b *bounds) error {
	if b == nil {
		return nil
	}
	err := isolateThread(*b)
	if err != nil && (b.Required || b.User != 0) {
		return fmt.Errorf("the process cannot be isolated: %w", err)
	}
	return nil
}

// waitAndReap reaps the child. Its group is killed while the dead child still holds the
// pid, so the signal cannot reach another process.
func (c *child) waitAndReap(cmd *exec.Cmd) {
	defer close(c.done)
	<-c.ready
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, c.pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	c.kill()
	ended := make(chan struct{})
	go func() { // on another thread: this one may be isolated
		defer close(ended)
		c.keeper.killLeftProcesses(c.pid, c.group)
	}()
	<-ended
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = unix.Kill(-c.pid, unix.SIGKILL)
	c.keeper.forgetReaped(c.pid, func() {
		_ = cmd.Wait()
	}) // how it ended is in ProcessState
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

// exitStatus describes the end; only after done.
func (c *child) exitStatus() Exit {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := Exit{Code: -1}
	if c.state == nil {
		return e
	}
	e.Code = c.state.ExitCode()
	ws, ok := c.state.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		e.Signal = ws.Signal().String()
	}
	return e
}
