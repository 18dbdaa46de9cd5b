package ctlclient

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "write the manual pages into a directory", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return doc.GenManTree(cmd.Root(), &doc.GenManHeader{Title: "CTL", Section: "1", Source: "ctl", Manual: "ctl"}, args[0])
		},
	}
}
