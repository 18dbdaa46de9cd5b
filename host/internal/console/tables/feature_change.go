package tables

import (
	"context"
	"strings"

	"ctl.internal/host/internal/feature"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
)

var (
	simulateOption = boolOption("simulate", "t", "only show what would be done")
	verboseOption  = boolOption("verbose", "v", "show what is done")
)

func (t features) install() commands.Command {
	return commands.Command{
		Name: "feature:install", Summary: "install features and what they need",
		Help:      "feature:install ctl-switch-all\nfeature:install -t ctl-bier-all\nWhat is installed already stays as it is. Several features are installed together or not at all.",
		Options:   []commands.Option{simulateOption, verboseOption, boolOption("no-start", "s", "do not start what is new")},
		Arguments: []commands.Argument{t.several(t.notRequired)},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return changing(in, "installing", func() (feature.Change, error) {
				return t.Install(ctx, in.Args["name"], feature.InstallOptions{Simulate: in.Flag("simulate"), NoStart: in.Flag("no-start")})
			})
		},
	}
}

func (t features) uninstall() commands.Command {
	return commands.Command{
		Name: "feature:uninstall", Summary: "uninstall features and what nothing else needs",
		Help:      "A feature that came along with another goes with the last that needs it; it cannot be uninstalled by itself.",
		Options:   []commands.Option{simulateOption, verboseOption, boolOption("clean", "c", "also delete the settings files of what goes")},
		Arguments: []commands.Argument{t.several(t.required)},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return changing(in, "uninstalling", func() (feature.Change, error) {
				return t.Uninstall(ctx, in.Args["name"], feature.UninstallOptions{Simulate: in.Flag("simulate"), DeleteConfig: in.Flag("clean")})
			})
		},
	}
}

func (t features) start() commands.Command {
	return commands.Command{
		Name: "feature:start", Summary: "start features that were stopped, and what they need",
		Options: []commands.Option{verboseOption}, Arguments: []commands.Argument{t.several(t.Installed)},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return changing(in, "starting", func() (feature.Change, error) { return t.Start(ctx, in.Args["name"]...) })
		},
	}
}

func (t features) stop() commands.Command {
	return commands.Command{
		Name: "feature:stop", Summary: "stop features without uninstalling them",
		Help:    "Their plugins end unless another feature needs them; feature:start brings them back.",
		Options: []commands.Option{verboseOption}, Arguments: []commands.Argument{t.several(t.Installed)},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return changing(in, "stopping", func() (feature.Change, error) { return t.Stop(ctx, in.Args["name"]...) })
		},
	}
}

// changing does something and reports what it changed when somebody wants to know.
func changing(in *commands.Invocation, what string, do func() (feature.Change, error)) error {
	in.Progress(commands.Progress{Text: what + " " + strings.Join(in.Args["name"], ", ")})
	c, err := do()
	in.Progress(commands.Progress{})
	if err != nil {
		return err
	}
	lines := append(append([]string{}, c.Lines()...), c.Stay...)
	if in.Format == "json" {
		return in.Emit(map[string]any{"simulated": in.Flag("simulate"), "changes": lines}, nil)
	}
	if !in.Flag("simulate") && !in.Flag("verbose") {
		lines = c.Stay // what was asked for and did not happen is said in any case
		if len(lines) == 0 {
			return nil
		}
	}
	if len(lines) == 0 {
		lines = []string{"nothing to do"}
	}
	for _, l := range lines {
		in.Printf("%s\n", console.Printable(l))
	}
	return nil
}
