package ctlclient

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"ctl.internal/internal/console"
	"ctl.internal/internal/wire"
)

// operatorCommands are those that ctl does by itself.
func operatorCommands(o *options) []*cobra.Command {
	return []*cobra.Command{o.configCommand(), o.featuresCommand(), o.pluginCommand(), o.snapshotCommand(), o.applyCommand(), o.getCommand(), o.doctorCommand(), o.nowCommand(), versionCommand(), manCommand()}
}

// newGroupCommand is a word of ctl's own that others follow.
func newGroupCommand(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return coded{console.Usage, fmt.Errorf(
				"ctl %s has no command %q (ctl %s --help lists them); commands of the controller are written with a colon",
				name,
				args[0],
				name,
			)}
		},
	}
}

func (o *options) configCommand() *cobra.Command {
	c := newGroupCommand("config", "check or show the settings in a home, without a controller")
	var format string
	c.PersistentFlags().StringVar(&format, "format", "text", "text or json")
	validate := &cobra.Command{
		Use:   "validate",
		Short: "check the files of etc/ as a start of the controller would",
		Args:  cobra.NoArgs,
		Long: "Reads etc/ctl.yaml with the environment, sec.ini, the catalogue of features and the settings of plugins, and reports\n" +
			"every fault with its place. Nothing is changed and no port is opened. The exit code is 2 when the controller would not start.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.runOffline(cmd, console.Offline{
				Name:   "config:validate",
				Format: format,
			})
		},
	}
	var effective bool
	show := &cobra.Command{
		Use:   "show [KEY]",
		Short: "show the settings that a start of the controller would take",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.runOffline(cmd, console.Offline{
				Name:    "config:show",
				Format:  format,
				Options: map[string]string{"effective": strconv.FormatBool(effective)},
				Args:    map[string][]string{"key": args},
			})
		},
	}
	show.Flags().BoolVarP(
		&effective,
		"effective",
		"e",
		false,
		"all settings, also those with their default value",
	)
	c.AddCommand(validate, show)
	return c
}

func (o *options) featuresCommand() *cobra.Command {
	c := newGroupCommand("features", "check the catalogue of features, without a controller")
	var format string
	var dirs []string
	verify := &cobra.Command{
		Use:   "verify",
		Short: "check the catalogue and the files of its plugins",
		Args:  cobra.NoArgs,
		Long: "Every file of the catalogue is parsed, every feature resolved with what it depends on, and every plugin looked up and\n" +
			"compared with its sha256. The exit code is 1 when something is wrong.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.runOffline(cmd, console.Offline{
				Name:    "features:verify",
				Format:  format,
				Options: map[string]string{"plugins": strings.Join(dirs, string(os.PathListSeparator))},
			})
		},
	}
	verify.Flags().StringVar(&format, "format", "text", "text or json")
	verify.Flags().StringArrayVar(
		&dirs,
		"plugins",
		nil,
		"directory of plugins, may be repeated (plugins/ beside ctl, then that of the home)",
	)
	c.AddCommand(verify)
	return c
}

func versionCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "version",
		Short: "show the version of ctl",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format == "json" {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(versionInfo())
			}
			if err := checkFormat(format); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "ctl %s\n", versionText())
			return err
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	return c
}

// versionInfo is what this program was built from.
func versionInfo() map[string]string {
	version, commit := console.Build()
	return map[string]string{
		"version":  version,
		"commit":   cmp.Or(commit, "unknown"),
		"go":       runtime.Version(),
		"contract": strings.Join(wire.APIVersions, ", "),
	}
}

func versionText() string {
	v := versionInfo()
	return fmt.Sprintf(
		"%s (commit %s, %s, plugin contract %s)",
		v["version"],
		v["commit"],
		v["go"],
		v["contract"],
	)
}

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write the manual pages into a directory",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return doc.GenManTree(
				cmd.Root(),
				&doc.GenManHeader{
					Title:   "CTL",
					Section: "1",
					Source:  "ctl",
					Manual:  "ctl",
				},
				args[0],
			)
		},
	}
}
