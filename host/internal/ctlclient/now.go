package ctlclient

import "github.com/spf13/cobra"

// nowCommand is system:now by a shorter name.
func (o *options) nowCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "now",
		Short: "show what is wrong now",
		Args:  cobra.NoArgs,
		Long: "Asks the controller that runs in the home (system:now): plugins that do not serve, silent switches, lost links, mismatches,\n" +
			"alarms, certificates that end. The exit code is 1 while a trouble, not a warning alone, is neither acknowledged nor silenced.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat(o.format); err != nil {
				return err
			}
			return o.oneLine(cmd.Context(), "system:now")
		},
	}
	c.Flags().StringVar(&o.format, "format", "", "text or json")
	return c
}
