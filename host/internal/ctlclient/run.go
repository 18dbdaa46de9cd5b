package ctlclient

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"ctl.internal/internal/console"
)

// Streams are what the program reads and writes.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	// TTY is the terminal that In and Out are, for a dialogue; nil = they are none.
	TTY *os.File
	// Typed says that In is a terminal: what comes from it is typed, not data.
	Typed bool
}

// Std returns the streams of the process.
func Std() Streams {
	s := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	s.Typed = term.IsTerminal(int(os.Stdin.Fd()))
	if s.Typed && term.IsTerminal(int(os.Stdout.Fd())) {
		s.TTY = os.Stdin
	}
	return s
}

// coded is an error with an exit code; one without text was shown already.
type coded struct {
	code console.Code
	err  error
}

func (c coded) Error() string {
	if c.err == nil {
		return ""
	}
	return c.err.Error()
}

func (c coded) Unwrap() error { return c.err }

func exitError(code console.Code) error {
	if code == console.OK {
		return nil
	}
	return coded{code: code}
}

// Main runs ctl and returns its exit code.
func Main(args []string, std Streams) int {
	root := newRoot(std)
	root.SetArgs(args)
	root.SetIn(std.In)
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	err := root.Execute()
	if err == nil {
		return int(console.OK)
	}
	var c coded
	if !errors.As(err, &c) { // cobra's own: a wrong flag or argument
		c = coded{console.Usage, err}
	}
	if c.err != nil {
		fmt.Fprintf(std.Err, "error: %v\n", c.err)
	}
	return int(c.code)
}
