package gitcmd

import (
	"context"
	"io"
	"os"
	"os/exec"

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

// Start runs git until it ends, ctx is done or Close is called. The caller must
// call Wait or Close. A Process belongs to one goroutine at a time.
func (g *Git) Start(ctx context.Context, dir string, stdin bool, args ...string) (*Process, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd, err := g.command(ctx, Local, nil, dir, args)
	if err != nil {
		cancel()
		return nil, err
	}
	p := &Process{cmd: cmd, ctx: ctx, cancel: cancel, name: args[0]}
	cmd.Stderr = &p.words
	if stdin {
		if p.Stdin, err = cmd.StdinPipe(); err != nil {
			cancel()
			return nil, fault.Wrap(fault.Unavailable, err, "git %s could not be started", p.name)
		}
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		widen(out)
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, fault.Wrap(fault.Unavailable, err, "git %s could not be started", p.name)
	}
	p.Stdout = out
	return p, nil
}

// widen is best effort: the kernel may refuse, and then the pipe stays small.
func widen(r io.Reader) {
	if f, ok := r.(*os.File); ok {
		if raw, err := f.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
		}
	}
}

// Wait returns how git ended; Stdout must have been read to its end.
func (p *Process) Wait() error {
	if !p.done {
		p.done = true
		p.err = explain(p.ctx, p.cmd.Wait(), p.name, &p.words)
		p.cancel()
	}
	return p.err
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
