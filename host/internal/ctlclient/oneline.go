package ctlclient

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/crypto/ssh"
	"golang.org/x/term"

	"ctl.internal/internal/console"
)

// oneLine runs one line at the controller.
func (o *options) oneLine(ctx context.Context, line string) error {
	o.line = line
	in := o.std.In
	if o.std.Typed { // else ctl LINE | less would take the keys meant for less
		in = nil
	}
	l, err := o.dialConsole(ctx)
	if err != nil {
		return err
	}
	return l.runSession(in, o.std.Out, func(s *ssh.Session) error {
		if out, ok := o.std.Out.(*os.File); ok {
			if width, _, err := term.GetSize(int(out.Fd())); err == nil {
				_ = s.Setenv(console.EnvWidth, strconv.Itoa(width)) // a controller of before folds no tables
			}
		}
		return s.Start(line)
	})
}

// runLines streams a file of lines to a shell without a terminal.
func (o *options) runLines(ctx context.Context, in io.Reader, name string) error {
	l, err := o.dialConsole(ctx)
	if err != nil {
		return err
	}
	return l.runSession(in, o.std.Out, func(s *ssh.Session) error {
		s.Setenv(console.EnvBatch, name)
		return s.Shell()
	})
}

// runSession runs what begin starts, with an input unless it is nil, and closes the connection at its end.
func (l *link) runSession(in io.Reader, out io.Writer, begin func(*ssh.Session) error) error {
	defer l.close()
	defer keepTerminal()()
	if in != nil {
		if err := l.feedInput(in); err != nil {
			return err
		}
	}
	l.session.Stdout, l.session.Stderr = above{l.status, out}, l.status
	if err := begin(l.session); err != nil {
		return coded{console.Unavailable, fmt.Errorf(
			"the controller does not take the command: %w",
			err,
		)}
	}
	defer l.forwardSignals()()
	return l.waitForExit()
}

// above writes output after taking the status line away.
type above struct {
	status *console.StatusLine
	out    io.Writer
}

func (a above) Write(p []byte) (int, error) {
	a.status.Clear()
	return a.out.Write(p)
}

// forwardSignals sends Ctrl-C to the running command; a second one ends ctl.
func (l *link) forwardSignals() (stop func()) {
	again := false
	return onSignals(func(os.Signal) {
		if again {
			l.client.Close()
			return
		}
		again = true
		l.session.Signal(ssh.SIGINT)
	}, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}
