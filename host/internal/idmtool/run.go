package idmtool

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// The exit codes: a usage error is 2, as users of the script know it.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Env is what the tool has of the world.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// ReadPassword reads a line without echo; it is used when stdin is a terminal.
	// Nil = lines are read from Stdin.
	ReadPassword func() (string, error)
}

// Run runs one command and returns the exit code.
func Run(ctx context.Context, args []string, env Env) int {
	o, err := parseOptions(args)
	if err != nil {
		fmt.Fprintf(env.Stderr, "%s\nidmtool: error: %v\n", usageLine, err)
		return exitUsage
	}
	if o.help || o.command == "" {
		fmt.Fprint(env.Stdout, helpText())
		if o.help {
			return exitOK
		}
		return exitFailed
	}
	t, err := newTool(ctx, o, env)
	if err != nil {
		fmt.Fprintf(env.Stderr, "idmtool: error: %v\n", err)
		return exitUsage
	}
	if o.insecure {
		fmt.Fprintln(env.Stderr, "Warning: the server's certificate is not verified (-k)")
	}
	if t.password, err = t.askSecret("Password: "); err == nil {
		err = t.runRequest(ctx, commandOf(o.command).call(t, o.args))
	}
	if err != nil {
		fmt.Fprintln(env.Stdout, err)
		return exitFailed
	}
	return exitOK
}

type options struct {
	help, insecure bool
	target         string
	user, command  string
	args           []string
}

// parseOptions reads the arguments; options may stand anywhere, -- ends them.
func parseOptions(args []string) (options, error) {
	var o options
	f := pflag.NewFlagSet("idmtool", pflag.ContinueOnError)
	f.Usage = func() {} // Run prints how it is called
	f.BoolVarP(&o.help, "help", "h", false, "")
	f.BoolVarP(&o.insecure, "insecure", "k", false, "")
	f.StringVar(&o.target, "target-host", "", "")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	words := f.Args()
	if o.help || len(words) == 0 {
		return o, nil
	}
	o.user = words[0]
	if len(words) == 1 {
		return o, nil
	}
	c := commandOf(words[1])
	if c == nil {
		return o, unknownCommand(words[1])
	}
	o.command, o.args = c.name, words[2:]
	if len(o.args) != len(c.args) {
		return o, fmt.Errorf(
			"%s takes %d arguments: idmtool <user> %s",
			c.name,
			len(c.args),
			c.usage(),
		)
	}
	return o, nil
}

// Std is the environment of the process.
func Std() Env {
	env := Env{
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
		Getenv: os.Getenv,
	}
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		env.ReadPassword = func() (string, error) {
			b, err := term.ReadPassword(fd)
			return string(b), err
		}
	}
	return env
}
