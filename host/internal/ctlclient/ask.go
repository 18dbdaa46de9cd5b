package ctlclient

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"ctl.internal/internal/console"
)

// ask puts a question to whoever sits at the terminal, even when input and output
// are redirected. It fails where there is no terminal.
func ask(text string, echo bool) (string, error) {
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
