package tables

import (
	"context"
	"strings"

	"ctl.internal/host/internal/home"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// originDefault is the origin of a setting that nobody made.
const originDefault = "default"

// Config reads the settings.
type Config interface {
	// Validate checks the files of etc/ as they are now, as a start would.
	Validate(ctx context.Context) []home.Problem
	// Effective lists the settings the controller runs with.
	Effective() []home.Effective
	// Home is whose etc/ it is.
	Home() home.Dir
}

// ConfigCommands are config:*.
func ConfigCommands(c Config) []commands.Command {
	return []commands.Command{
		{
			Name: "config:validate", Summary: "check the files of etc/ as they are now", Safe: true,
			Help: "Nothing is changed. ctl config validate does the same without a running controller.",
			Run: func(ctx context.Context, in *commands.Invocation) error {
				return emitProblems(in, c.Validate(ctx))
			},
		},
		listCommand(c), getCommand(c), setCommand(c),
		{
			Name: "config:show", Summary: "show the settings", Safe: true,
			Help:      "config:show --effective\nconfig:show --effective limits",
			Options:   []commands.Option{boolOption("effective", "e", "all settings, also those that nobody changed")},
			Arguments: []commands.Argument{{Name: "key", Help: "only settings whose key begins with this", Complete: names(func() []string { return keys(c.Effective()) })}},
			Run: func(_ context.Context, in *commands.Invocation) error {
				out := &commands.Table{Empty: "all settings have their defaults", Columns: []commands.Column{{Title: "Setting", Key: "key"}, {Title: "Value", Key: "value"}, {Title: "From", Key: "origin"}}}
				for _, s := range c.Effective() {
					if strings.HasPrefix(s.Key, in.Arg("key")) && (in.Flag("effective") || s.Origin != originDefault) {
						out.Add(s.Key, s.Value, s.Origin)
					}
				}
				return in.Emit(out, nil)
			},
		},
	}
}

func keys(all []home.Effective) []string {
	var out []string
	for _, s := range all {
		out = append(out, s.Key)
	}
	return out
}

// emitProblems shows what was found and fails when something would stop a start.
func emitProblems(in *commands.Invocation, found []home.Problem) error {
	faults := 0
	for _, p := range found {
		if !p.Warning {
			faults++
		}
	}
	if found == nil {
		found = []home.Problem{}
	}
	err := in.Emit(found, func() string {
		var b strings.Builder
		for _, p := range found {
			line := p.String()
			if p.Warning {
				line = "warning: " + line
			}
			b.WriteString(console.Printable(line) + "\n")
		}
		if faults == 0 {
			b.WriteString("the settings are valid\n")
		}
		return b.String()
	})
	if err == nil && faults > 0 {
		err = fault.New(fault.Invalid, "the controller, or a plugin, would not start with these settings (faults: %d)", faults)
	}
	return err
}
