// Package consoletest is a console with commands of its own, for the tests of the
// server and of ctl.
package consoletest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Commands are fake commands of the kinds that real ones are of.
type Commands struct {
	// Running gets the name of each command that waits for its context.
	Running chan string

	mu        sync.Mutex
	installed map[string]bool
}

// NewCommands makes the table with nothing installed.
func NewCommands() *Commands {
	return &Commands{
		Running:   make(chan string, 16),
		installed: map[string]bool{},
	}
}

var known = []string{"ctl-bier-all", "ctl-repoinfo", "ctl-switch-all", "ctl-switch-cli"}

// Commands is the table; that of the fake plugin comes with its feature.
func (c *Commands) Commands() []commands.Command {
	complete := func(context.Context, string) []string { return known }
	table := []commands.Command{
		{
			Name:    "feature:list",
			Summary: "list the features",
			Safe:    true,
			Options: []commands.Option{{
				Name:  "installed",
				Short: "i",
				Help:  "only the installed ones",
				Type:  commands.Bool,
			}},
			Run: c.listFeatures,
		},
		{
			Name:    "feature:install",
			Summary: "install features",
			Help:    "Installs the named features.",
			Options: []commands.Option{{
				Name:  "simulate",
				Short: "t",
				Help:  "only say what would be done",
				Type:  commands.Bool,
			}},
			Arguments: []commands.Argument{{
				Name:     "name",
				Help:     "the features",
				Required: true,
				Repeated: true,
				Complete: complete,
			}},
			Run: c.installFeatures,
		},
		{
			Name:    "test:login",
			Summary: "ask for a password",
			Options: []commands.Option{{
				Name:     "user",
				Help:     "the name",
				Required: true,
			}, {Name: "password", Help: "the secret"}},
			Run: loginCommand,
		},
		{
			Name:    "test:wait",
			Summary: "wait until Ctrl-C",
			Run: func(ctx context.Context, in *commands.Invocation) error {
				in.Printf("waiting\n")
				c.Running <- in.Name
				<-ctx.Done()
				return ctx.Err()
			},
		},
		{
			Name:    "test:fail",
			Summary: "fail",
			Arguments: []commands.Argument{{
				Name:   "kind",
				Help:   "how",
				Values: []string{"internal", "not-found", "denied", "unavailable", "panic"},
			}},
			Run: failCommand,
		},
		{
			Name:    "test:cat",
			Summary: "copy its input",
			Run: func(_ context.Context, in *commands.Invocation) error {
				_, err := io.Copy(in.Stdout, in.Stdin)
				return err
			},
		},
		{
			Name:    "test:both",
			Summary: "copy its input and ask",
			Options: []commands.Option{{
				Name: "first",
				Help: "ask first",
				Type: commands.Bool,
			}},
			Run: promptAndRead,
		},
		{
			Name:    "path:read",
			Summary: "show a file",
			Arguments: []commands.Argument{{
				Name:     "path",
				Help:     "it",
				Type:     commands.File,
				Required: true,
			}},
			Run: func(_ context.Context, in *commands.Invocation) error {
				b, err := os.ReadFile(in.Positional[0])
				in.Printf("%s", b)
				return err
			},
		},
		{
			Name:    "path:make",
			Summary: "make a file",
			Options: []commands.Option{{
				Name: "to",
				Help: "its path",
				Type: commands.NewFile,
			}},
			Run: func(_ context.Context, in *commands.Invocation) error {
				f, err := os.OpenFile(in.Option("to"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
				if err != nil {
					return err
				}
				_, err = f.WriteString("made\n")
				return errors.Join(err, f.Close())
			},
		},
		{
			Name:    "test:many",
			Summary: "write numbers without end",
			Run: func(ctx context.Context, in *commands.Invocation) error {
				for i := 1; ctx.Err() == nil; i++ {
					in.Printf("%d\n", i)
				}
				return ctx.Err()
			},
		},
		{
			Name:    "test:work",
			Summary: "show progress",
			Run: func(_ context.Context, in *commands.Invocation) error {
				in.Progress(commands.Progress{
					Text:  "working",
					Done:  1,
					Total: 2,
				})
				in.Printf("done\n")
				in.Progress(commands.Progress{})
				return nil
			},
		},
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.installed["ctl-switch-all"] {
		table = append(table, commands.Command{
			Name:    "switch:PrintDB",
			Summary: "show the switch list",
			Run: func(_ context.Context, in *commands.Invocation) error {
				return in.Emit(&commands.Table{Empty: "no switches"}, nil)
			},
		})
	}
	return table
}

func (c *Commands) listFeatures(_ context.Context, in *commands.Invocation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &commands.Table{
		Empty: "No features installed",
		Columns: []commands.Column{{
			Title: "Name",
			Key:   "name",
		}, {Title: "State", Key: "state"}},
	}
	for _, n := range known {
		switch {
		case c.installed[n]:
			t.Add(n, "Started")
		case !in.Flag("installed"):
			t.Add(n, "Uninstalled")
		}
	}
	return in.Emit(t, nil)
}

func (c *Commands) installFeatures(_ context.Context, in *commands.Invocation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range in.Args["name"] {
		if !strings.Contains(strings.Join(known, " "), n) {
			return fault.At(fault.NotFound, n, "there is no such feature; feature:list shows them")
		}
		if !in.Flag("simulate") {
			c.installed[n] = true
		}
	}
	return nil
}

func loginCommand(ctx context.Context, in *commands.Invocation) error {
	pw := in.Option("password")
	if pw == "" {
		var err error
		if pw, err = in.Prompt(ctx, "Password: ", false); err != nil {
			return err
		}
	}
	return in.Emit(map[string]any{
		"user":   in.Option("user"),
		"length": len(pw),
		"caller": in.Caller.User,
	}, func() string {
		return fmt.Sprintf(
			"%s gave %d characters to %s\n",
			in.Option("user"),
			len(pw),
			in.Caller.User,
		)
	})
}

func promptAndRead(ctx context.Context, in *commands.Invocation) error {
	ask := func() error {
		answer, err := in.Prompt(ctx, "Sure? ", true)
		in.Printf("answer %q\n", answer)
		return err
	}
	read := func() error {
		_, err := io.Copy(in.Stdout, in.Stdin)
		return err
	}
	if in.Flag("first") {
		return errors.Join(ask(), read())
	}
	return errors.Join(read(), ask())
}

func failCommand(_ context.Context, in *commands.Invocation) error {
	switch in.Arg("kind") {
	case "not-found":
		return fault.At(fault.NotFound, "sw1", "there is no such switch")
	case "denied":
		return fault.New(fault.Denied, "not for %s", in.Caller.User)
	case "unavailable":
		return fault.New(fault.Unavailable, "the plugin has ended")
	case "panic":
		panic("as asked")
	}
	return fault.New(fault.Internal, "it failed\x1b[2J")
}
