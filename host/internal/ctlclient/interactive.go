package ctlclient

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"
	"golang.org/x/term"

	"ctl.internal/internal/console"
)

// runInteractive hands keyboard and screen to the controller's shell.
func (o *options) runInteractive(ctx context.Context) error {
	l, err := o.dialConsole(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	fd := int(o.std.TTY.Fd())
	width, height, err := term.GetSize(fd)
	if err != nil {
		width, height = 80, 24
	}
	name := cmp.Or(os.Getenv("TERM"), "vt100")
	if err := l.session.RequestPty(name, height, width, ssh.TerminalModes{}); err != nil {
		return coded{console.Unavailable, fmt.Errorf(
			"the controller does not open a terminal: %w",
			err,
		)}
	}
	state, err := term.MakeRaw(fd)
	if err != nil {
		return coded{console.Failed, fmt.Errorf(
			"the terminal cannot be put into raw mode: %w",
			err,
		)}
	}
	defer term.Restore(fd, state)
	if err := l.feedInput(o.std.In); err != nil {
		return err
	}
	l.session.Stdout, l.session.Stderr = o.std.Out, o.std.Err
	if err := l.session.Shell(); err != nil {
		return coded{console.Unavailable, fmt.Errorf("the controller does not open a shell: %w", err)}
	}
	defer l.followTerminal(fd)()
	return l.waitForExit()
}

// followTerminal informs the controller the window's size as it changes, and closes
// the connection when the terminal goes away, so that its state is put back.
func (l *link) followTerminal(fd int) (stop func()) {
	return onSignals(func(s os.Signal) {
		if s != syscall.SIGWINCH {
			l.client.Close()
		} else if w, h, err := term.GetSize(fd); err == nil {
			l.session.WindowChange(h, w)
		}
	}, syscall.SIGWINCH, syscall.SIGTERM, syscall.SIGHUP)
}

// onSignals calls f for each of some signals until it is stopped.
func onSignals(f func(os.Signal), signals ...os.Signal) (stop func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, signals...)
	go func() {
		for s := range c {
			f(s)
		}
	}()
	return func() {
		signal.Stop(c) // nothing is sent after it
		close(c)
	}
}

// askTerminal puts a question to whoever sits at the terminal, even when input and output
// are redirected. It fails where there is no terminal.
func askTerminal(text string, echo bool) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer tty.Close()
	fmt.Fprint(tty, console.Printable(text))
	if echo {
		line, err := bufio.NewReader(tty).ReadString('\n')
		return strings.TrimRight(line, "\r\n"), err
	}
	b, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(tty)
	return string(b), err
}

// keepTerminal remembers the terminal's state; the function it returns puts it
// back, as a question that was broken off may have left it without echo.
func keepTerminal() func() {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return func() {}
	}
	state, err := term.GetState(int(tty.Fd()))
	return func() {
		if err == nil {
			term.Restore(int(tty.Fd()), state)
		}
		tty.Close()
	}
}
