package gitcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ctl.internal/sdk/fault"
)

// Process is a running git whose answer is read as it comes.
type Process struct {
	Stdin  io.WriteCloser // nil unless asked for
	Stdout io.Reader

	cmd    *exec.Cmd
	ctx    context.Context
	cancel context.CancelFunc
	words  tail
	name   string
	done   bool
	err    error
}

// pipeSize spares context switches between git and its reader.
const pipeSize = 1 << 20

// Start runs a call until it ends, ctx is done or Close is called. The caller must call Wait or Close. A Process belongs to one
// goroutine at a time, but for its Stdin.
func (g *Git) Start(ctx context.Context, c Call) (*Process, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd, err := g.newCommand(ctx, c)
	if err != nil {
		cancel()
		return nil, err
	}
	p := &Process{
		cmd:    cmd,
		ctx:    ctx,
		cancel: cancel,
		name:   c.Args[0],
	}
	cmd.Stderr = &p.words
	if c.Stdin != "" {
		cmd.Stdin = strings.NewReader(c.Stdin)
	}
	if c.Input {
		if p.Stdin, err = cmd.StdinPipe(); err != nil {
			cancel()
			return nil, fault.Wrap(fault.Unavailable, err, "git %s could not be started", p.name)
		}
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		widenPipe(out)
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, fault.Wrap(fault.Unavailable, err, "git %s could not be started", p.name)
	}
	p.Stdout = out
	return p, nil
}

// widenPipe is best effort: the kernel may refuse, and then the pipe stays small.
func widenPipe(r io.Reader) {
	if f, ok := r.(*os.File); ok {
		if raw, err := f.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) {
				_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize)
			})
		}
	}
}

// Wait returns how git ended; Stdout must have been read to its end.
func (p *Process) Wait() error {
	if !p.done {
		p.done = true
		p.err = explainExit(p.ctx, p.cmd.Wait(), p.name, &p.words)
		p.cancel()
	}
	return p.err
}

// Ended waits for a git whose answer broke off because of cause, and returns how it ended.
func (p *Process) Ended(cause error) error {
	if p.Stdin != nil {
		_ = p.Stdin.Close()
	}
	_, _ = io.Copy(io.Discard, p.Stdout)
	if err := p.Wait(); err != nil {
		return err
	}
	return fmt.Errorf("git %s ended early: %w", p.name, cause)
}

// Close ends git if it still runs. How it ended is of no interest.
func (p *Process) Close() {
	if p.done {
		return
	}
	p.cancel()
	if p.Stdin != nil {
		_ = p.Stdin.Close()
	}
	_ = p.Wait()
}

// ownProcessGroup puts the child in a process group of its own, so that git's helpers
// (remote-https, index-pack) end with it, and asks the kernel to end it when
// this process is killed.
func ownProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:   true,
		Pdeathsig: syscall.SIGKILL,
	}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

// inBackground makes a command run at a lower priority, so that what somebody waits for goes first. nice(1) lowers its
// own, which the controller's filter of system calls permits; that of another process it does not. Where there is no
// nice the priority stays.
func inBackground(path string, args []string) (string, []string) {
	nice, err := exec.LookPath("nice")
	if err != nil {
		return path, args
	}
	return nice, append([]string{"-n", "10", path}, args...)
}

// outputLimit bounds an answer held in memory: 100,000 references fit.
const outputLimit = 32 << 20

// Call is one run of git.
type Call struct {
	Dir        string        // the repository (its git directory)
	Args       []string      // subcommand first
	Config     []string      // further "name=value" for this call
	Stdin      string        // fed to the child
	Input      bool          // the caller feeds Process.Stdin instead (Start only)
	Background bool          // at a lower priority: no caller waits for the first result, or it takes long
	Network    bool          // it may use the transports that mirroring needs
	Env        []string      // more environment, for Network only: the place for secrets, never Args
	Timeout    time.Duration // of Output; 0 = 30 s
}

// Output runs a call and returns what it printed, at most 32 MiB. A non-zero
// status is an *ExitError, an expired deadline a fault.Timeout.
func (g *Git) Output(ctx context.Context, c Call) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, 30*time.Second))
	defer cancel()
	p, err := g.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	out, err := io.ReadAll(io.LimitReader(p.Stdout, outputLimit+1))
	if len(out) > outputLimit {
		return nil, fault.New(
			fault.TooBig,
			"git %s answered more than %d MiB",
			p.name,
			outputLimit>>20,
		)
	}
	if err != nil {
		return out, p.Ended(err)
	}
	return out, p.Wait()
}

// explainExit turns the end of a child into the error a caller can act on.
func explainExit(ctx context.Context, err error, command string, words *tail) error {
	if err == nil {
		return nil
	}
	switch ctx.Err() {
	case context.DeadlineExceeded:
		return fault.Wrap(fault.Timeout, err, "git %s did not end in time", command)
	case context.Canceled:
		return ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return &ExitError{
			Command: command,
			Code:    exit.ExitCode(),
			Stderr:  words.String(),
		}
	}
	return fault.Wrap(fault.Unavailable, err, "git %s could not be run", command)
}
