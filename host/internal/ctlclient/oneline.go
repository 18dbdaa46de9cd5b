package ctlclient

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/crypto/ssh"
	"golang.org/x/term"

	"ctl.internal/internal/console"
)

// oneLine runs one line at the controller.
func (o *options) oneLine(ctx context.Context, line string) error {
	o.line = line
	l, err := o.dial(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	defer keepTerminal()()
	if !o.std.Typed { // else ctl LINE | less would take the keys meant for less
		if err := l.feed(o.std.In); err != nil {
			return err
		}
	}
	if out, ok := o.std.Out.(*os.File); ok {
		if width, _, err := term.GetSize(int(out.Fd())); err == nil {
			_ = l.session.Setenv(console.EnvWidth, strconv.Itoa(width)) // a controller of before folds no tables
		}
	}
	l.session.Stdout, l.session.Stderr = above{l.status, o.std.Out}, l.status
	if err := l.session.Start(line); err != nil {
		return coded{console.Unavailable, fmt.Errorf("the controller does not accept the line: %w", err)}
	}
	defer l.forwardSignals()()
	return l.wait()
}

// lines streams a file of lines to a shell without a terminal.
func (o *options) lines(ctx context.Context, in io.Reader, name string) error {
	l, err := o.dial(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	defer keepTerminal()()
	l.session.Setenv(console.EnvBatch, name)
	if err := l.feed(in); err != nil {
		return err
	}
	l.session.Stdout, l.session.Stderr = above{l.status, o.std.Out}, l.status
	if err := l.session.Shell(); err != nil {
		return coded{console.Unavailable, fmt.Errorf("the controller does not open a shell: %w", err)}
	}
	defer l.forwardSignals()()
	return l.wait()
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
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-c:
			}
			if n > 0 {
				l.client.Close()
				return
			}
			l.session.Signal(ssh.SIGINT)
		}
	}()
	return func() {
		signal.Stop(c)
		close(done)
	}
}
