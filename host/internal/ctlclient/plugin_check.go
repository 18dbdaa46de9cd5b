package ctlclient

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/plugintest"
)

func (o *options) pluginCheck() *cobra.Command {
	var format, config string
	var only []string
	c := &cobra.Command{
		Use: "check BIN", Short: "see whether an executable is a plugin as the controller needs it", Args: cobra.ExactArgs(1),
		Long: "Starts the executable as the controller would and tries what every plugin must hold: manifest, handshake, settings,\n" +
			"cancelled calls, orderly end. It takes some seconds. The exit code is 1 when there are faults; warnings do not count.\n\n" +
			"Checks: " + strings.Join(plugintest.Checks(), ", "),
		RunE: func(cmd *cobra.Command, args []string) error {
			bin, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if _, err := os.Stat(bin); err != nil {
				return coded{exitNotFound, err}
			}
			var opts []plugintest.Option
			if config != "" {
				settings, err := readSettings(config)
				if err != nil {
					return coded{exitUsage, err}
				}
				opts = append(opts, plugintest.WithConfig(settings))
			}
			for _, name := range only {
				if !slices.Contains(plugintest.Checks(), name) {
					return coded{exitUsage, fmt.Errorf("there is no check %q; there are %s", name, strings.Join(plugintest.Checks(), ", "))}
				}
			}
			if len(only) > 0 {
				opts = append(opts, plugintest.WithChecks(only...))
			}
			return o.local(cmd, &commands.Invocation{Name: "plugin:check", Format: format}, func(ctx context.Context, in *commands.Invocation) (int, error) {
				return exitFailed, check(ctx, in, bin, opts)
			})
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	c.Flags().StringVar(&config, "config", "", "file of settings (YAML) that the plugin needs to start")
	c.Flags().StringArrayVar(&only, "only", nil, "name of a check, may be repeated; all when not given")
	_ = c.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(plugintest.Checks(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func readSettings(file string) (map[string]any, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var v map[string]any
	if err := yaml.Unmarshal(b, &v); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return v, nil
}

func check(ctx context.Context, in *commands.Invocation, bin string, opts []plugintest.Option) error {
	t := &commands.Table{Empty: "in order", Columns: []commands.Column{{Title: "Check", Key: "check"}, {Title: "Kind", Key: "kind"}, {Title: "Finding", Key: "finding"}}}
	faults := 0
	for _, f := range plugintest.Check(ctx, bin, opts...) {
		kind := "warning"
		if !f.Warning {
			kind = "fault"
			faults++
		}
		t.Add(f.Check, kind, f.Text)
	}
	if err := in.Emit(t, nil); err != nil || faults == 0 {
		return err
	}
	return fmt.Errorf("%s does not hold what a plugin must (faults: %d)", filepath.Base(bin), faults)
}
