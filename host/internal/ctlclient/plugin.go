package ctlclient

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ctl.internal/host/internal/ctlclient/scaffold"
	"ctl.internal/internal/console"
)

func (o *options) pluginCommand() *cobra.Command {
	c := newGroupCommand("plugin", "begin or check a plugin of your own")
	c.AddCommand(pluginNew(), o.pluginCheck())
	return c
}

// oneName asks for the plugin's name, and shows how it is given.
func oneName(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return coded{console.Usage, fmt.Errorf(
		"give one name, in small letters; for example ctl plugin new --kind %s acme",
		scaffold.Kinds()[0],
	)}
}

func pluginNew() *cobra.Command {
	var p scaffold.Plugin
	c := &cobra.Command{
		Use:   "new --kind KIND NAME",
		Short: "write the first files of a plugin",
		Args:  oneName,
		Long: "Writes a plugin that compiles and passes its tests at once: main, manifest, one operation, its test, and a file that\n" +
			"makes it installable. Outside the controller's source tree it becomes a module of its own, whose go.mod points to the module sdk beside\n" +
			"this program and names what that needs, nothing else of the controller.",
		Example:   "  ctl plugin new --kind operations greeter\n  ctl plugin new --kind switchdriver --dir ~/acme --source ~/ctl acme",
		ValidArgs: []string{},
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Name = args[0]
			if p.Kind == "" {
				return coded{console.Usage, fmt.Errorf("which kind of plugin? Name it with --kind: %s; for example ctl plugin new --kind %s %s",
					strings.Join(scaffold.Kinds(), ", "), scaffold.Kinds()[0], p.Name)}
			}
			p.Dir = cmp.Or(p.Dir, p.Name)
			dir, err := filepath.Abs(p.Dir)
			if err != nil {
				return err
			}
			p.Dir = dir
			if _, inside := scaffold.InSource(filepath.Dir(dir)); inside {
				p.Source = ""
			} else if p.Source, err = sdkModule(p.Source); err != nil {
				return coded{console.Usage, err}
			}
			files, err := scaffold.Write(p)
			if err != nil {
				return coded{console.Usage, err}
			}
			for _, f := range files {
				fmt.Fprintln(cmd.OutOrStdout(), f)
			}
			_, err = fmt.Fprintf(
				cmd.OutOrStdout(),
				"\nNow: cd %s && go test ./...\nREADME.md there says how to install it.\n",
				console.Join([]string{p.Dir}),
			)
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&p.Kind, "kind", "", "capability: "+strings.Join(scaffold.Kinds(), ", "))
	f.StringVar(&p.Dir, "dir", "", "directory to make (./NAME)")
	f.StringVar(
		&p.Source,
		"source",
		"",
		"module to build with (CTL_SOURCE, else the directory sdk beside ctl)",
	)
	_ = c.RegisterFlagCompletionFunc(
		"kind",
		cobra.FixedCompletions(scaffold.Kinds(), cobra.ShellCompDirectiveNoFileComp),
	)
	_ = c.MarkFlagDirname("dir")
	_ = c.MarkFlagDirname("source")
	return c
}

// sdkModule finds the module that a plugin is built with: as named, or the one that the
// installation and `make build` lay down beside ctl.
func sdkModule(named string) (string, error) {
	named = cmp.Or(named, os.Getenv("CTL_SOURCE"))
	if named != "" {
		return named, nil
	}
	dir, err := console.ProgramDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "sdk")
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return "", fmt.Errorf(
			"the module sdk is not in the directory of ctl: %w; name it, or a source tree of the controller, with --source or CTL_SOURCE",
			err,
		)
	}
	return dir, nil
}

// pluginChecks are the names of the checks of sdk/plugintest, which ctl does not link.
var pluginChecks = []string{
	"by-hand", "describe", "handshake", "encryption", "manifest", "before-configure", "api-version",
	"unknown-setting", "bad-setting", "configure", "health", "metrics", "unknown-call", "large-message",
	"cancel", "signals", "stop", "stop-unconfigured", "parent-gone",
}

func (o *options) pluginCheck() *cobra.Command {
	var format, config string
	var only []string
	c := &cobra.Command{
		Use:   "check BIN",
		Short: "see whether an executable is a plugin as the controller needs it",
		Args:  cobra.ExactArgs(1),
		Long: "Starts the executable as the controller would and tries what every plugin must hold: manifest, handshake, settings,\n" +
			"cancelled calls, orderly end. It takes some seconds. The exit code is 1 when there are faults; warnings do not count.\n\n" +
			"Checks: " + strings.Join(pluginChecks, ", "),
		RunE: func(cmd *cobra.Command, args []string) error {
			bin, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if _, err := os.Stat(bin); err != nil {
				return coded{console.NotFound, err}
			}
			for _, name := range only {
				if !slices.Contains(pluginChecks, name) {
					return coded{console.Usage, fmt.Errorf(
						"unknown check %q, expected one of %s",
						name,
						strings.Join(pluginChecks, ", "),
					)}
				}
			}
			in := console.Offline{
				Name:   "plugin:check",
				Format: format,
				Args: map[string][]string{
					"bin":  {bin},
					"only": only,
				},
			}
			if config != "" {
				if config, err = filepath.Abs(config); err != nil {
					return err
				}
				in.Options = map[string]string{"config": config}
			}
			return o.runOffline(cmd, in)
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	c.Flags().StringVar(
		&config,
		"config",
		"",
		"file of settings (YAML) that the plugin needs to start",
	)
	c.Flags().StringArrayVar(
		&only,
		"only",
		nil,
		"name of a check, may be repeated; all when not given",
	)
	_ = c.RegisterFlagCompletionFunc(
		"only",
		cobra.FixedCompletions(pluginChecks, cobra.ShellCompDirectiveNoFileComp),
	)
	return c
}
