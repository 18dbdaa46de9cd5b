package ctlclient

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/crypto/ssh"
	"golang.org/x/term"

	"ctl.internal/internal/console"
)

// interactive hands keyboard and screen to the controller's shell.
func (o *options) interactive(ctx context.Context) error {
	l, err := o.dial(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	fd := int(o.std.TTY.Fd())
	width, height, err := term.GetSize(fd)
	if err != nil {
		width, height = 80, 24
	}
	name := os.Getenv("TERM")
	if name == "" {
		name = "vt100"
	}
	if err := l.session.RequestPty(name, height, width, ssh.TerminalModes{}); err != nil {
		return coded{console.Unavailable, fmt.Errorf("the controller gives no terminal: %w", err)}
	}
	state, err := term.MakeRaw(fd)
	if err != nil {
		return coded{console.Failed, fmt.Errorf("the terminal cannot be put into raw mode: %w", err)}
	}
	defer term.Restore(fd, state)
	if err := l.feed(o.std.In); err != nil {
		return err
	}
	l.session.Stdout, l.session.Stderr = o.std.Out, o.std.Err
	if err := l.session.Shell(); err != nil {
		return coded{console.Unavailable, fmt.Errorf("the controller opens no shell: %w", err)}
	}
	defer l.followTerminal(fd)()
	return l.wait()
}

// followTerminal informs the controller the window's size as it changes, and closes
// the connection when the terminal goes away, so that its state is put back.
func (l *link) followTerminal(fd int) (stop func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, syscall.SIGWINCH, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case s := <-c:
				if s != syscall.SIGWINCH {
					l.client.Close()
					return
				}
				if w, h, err := term.GetSize(fd); err == nil {
					l.session.WindowChange(h, w)
				}
			}
		}
	}()
	return func() {
		signal.Stop(c)
		close(done)
	}
}
