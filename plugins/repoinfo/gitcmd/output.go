package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"ctl.internal/sdk/fault"
)

// outputLimit bounds an answer held in memory: 100,000 references fit.
const outputLimit = 32 << 20

// Call is one run of git.
type Call struct {
	Dir        string        // the repository (its git directory)
	Args       []string      // subcommand first
	Config     []string      // further "name=value" for this call
	Stdin      string        // fed to the child (Output only)
	Input      bool          // the caller feeds Process.Stdin (Start only)
	Background bool          // at a lower priority: no client waits for the first result, or it takes long
	Trust      Trust         // Network for fetch and ls-remote
	Env        []string      // more environment, for Network only: the place for secrets, never Args
	Timeout    time.Duration // 0 = Git.Timeout
}

// Output runs a call and returns what it printed, at most 32 MiB. A non-zero
// status is an *ExitError, an expired deadline a fault.Timeout.
func (g *Git) Output(ctx context.Context, c Call) ([]byte, error) {
	limit := c.Timeout
	if limit == 0 {
		limit = g.Timeout
	}
	if limit == 0 {
		limit = 30 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd, err := g.command(ctx, c)
	if err != nil {
		return nil, err
	}
	out := &bounded{stop: cancel}
	var words tail
	cmd.Stdout, cmd.Stderr = out, &words
	if c.Stdin != "" {
		cmd.Stdin = strings.NewReader(c.Stdin)
	}
	if err = cmd.Start(); err == nil {
		c.started(cmd)
		err = cmd.Wait()
	}
	if out.over {
		return nil, fault.New(fault.TooBig, "git %s answered more than %d MiB", c.Args[0], outputLimit>>20)
	}
	return out.buf.Bytes(), explain(ctx, err, c.Args[0], &words)
}

// explain turns the end of a child into the error a caller can act on.
func explain(ctx context.Context, err error, command string, words *tail) error {
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
		return &ExitError{Command: command, Code: exit.ExitCode(), Stderr: words.String()}
	}
	return fault.Wrap(fault.Unavailable, err, "git %s could not be run", command)
}

type bounded struct {
	buf  bytes.Buffer
	over bool
	stop func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.buf.Len()+len(p) > outputLimit {
		b.over = true
		b.stop()
		return 0, errors.New("answer too long")
	}
	return b.buf.Write(p)
}
