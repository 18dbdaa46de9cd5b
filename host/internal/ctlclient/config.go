package ctlclient

import (
	"strconv"

	"github.com/spf13/cobra"

	"ctl.internal/internal/console"
)

func (o *options) configCommand() *cobra.Command {
	c := group("config", "check or show the settings in a home, without a controller")
	var format string
	c.PersistentFlags().StringVar(&format, "format", "text", "text or json")
	validate := &cobra.Command{
		Use: "validate", Short: "check the files of etc/ as a start of the controller would", Args: cobra.NoArgs,
		Long: "Reads etc/ctl.yaml with the environment, sec.ini, the catalogue of features and the settings of plugins, and reports\n" +
			"every fault with its place. Nothing is changed and no port is opened. The exit code is 2 when the controller would not start.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.offline(cmd, console.Offline{Name: "config:validate", Format: format})
		},
	}
	var effective bool
	show := &cobra.Command{
		Use: "show [KEY]", Short: "show the settings that a start of the controller would take", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.offline(cmd, console.Offline{Name: "config:show", Format: format,
				Options: map[string]string{"effective": strconv.FormatBool(effective)}, Args: map[string][]string{"key": args}})
		},
	}
	show.Flags().BoolVarP(&effective, "effective", "e", false, "all settings, also those that nobody changed")
	c.AddCommand(validate, show)
	return c
}
