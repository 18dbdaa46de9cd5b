package ctlclient

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ctl.internal/internal/console"
)

func (o *options) featuresCommand() *cobra.Command {
	c := group("features", "check the catalogue of features, without a controller")
	var format string
	var dirs []string
	verify := &cobra.Command{
		Use: "verify", Short: "check the catalogue and the files of its plugins", Args: cobra.NoArgs,
		Long: "Every file of the catalogue is parsed, every feature resolved with what it depends on, and every plugin looked up and\n" +
			"compared with its sha256. The exit code is 1 when something is wrong.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.offline(cmd, console.Offline{Name: "features:verify", Format: format,
				Options: map[string]string{"plugins": strings.Join(dirs, string(os.PathListSeparator))}})
		},
	}
	verify.Flags().StringVar(&format, "format", "text", "text or json")
	verify.Flags().StringArrayVar(&dirs, "plugins", nil, "directory of plugins, may be repeated (plugins/ beside ctl, then that of the home)")
	c.AddCommand(verify)
	return c
}
