package ctlclient

import (
	"fmt"

	"github.com/spf13/cobra"

	"ctl.internal/internal/console"
)

// operatorCommands are those that ctl does by itself.
func operatorCommands(o *options) []*cobra.Command {
	return []*cobra.Command{o.configCommand(), o.featuresCommand(), o.pluginCommand(), o.snapshotCommand(), o.applyCommand(), o.getCommand(), o.doctorCommand(), versionCommand(), manCommand()}
}

// group is a word of ctl's own that others follow.
func group(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return coded{console.Usage, fmt.Errorf("ctl %s has no command %q (ctl %s --help lists them); commands of the controller are written with a colon", name, args[0], name)}
		},
	}
}
