package ctlclient

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ctl.internal/internal/console"
)

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
		Use: "check BIN", Short: "see whether an executable is a plugin as the controller needs it", Args: cobra.ExactArgs(1),
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
					return coded{console.Usage, fmt.Errorf("there is no check %q; there are %s", name, strings.Join(pluginChecks, ", "))}
				}
			}
			in := console.Offline{Name: "plugin:check", Format: format, Args: map[string][]string{"bin": {bin}, "only": only}}
			if config != "" {
				if config, err = filepath.Abs(config); err != nil {
					return err
				}
				in.Options = map[string]string{"config": config}
			}
			return o.offline(cmd, in)
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	c.Flags().StringVar(&config, "config", "", "file of settings (YAML) that the plugin needs to start")
	c.Flags().StringArrayVar(&only, "only", nil, "name of a check, may be repeated; all when not given")
	_ = c.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(pluginChecks, cobra.ShellCompDirectiveNoFileComp))
	return c
}
