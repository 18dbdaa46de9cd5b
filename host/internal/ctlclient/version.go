package ctlclient

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"ctl.internal/internal/console"
	"ctl.internal/internal/wire"
)

func versionCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use: "version", Short: "show the version of ctl", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := version()
			switch format {
			case "json":
				return json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			case "", "text":
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "ctl %s\n", versionText())
				return err
			}
			return coded{console.Usage, fmt.Errorf("--format is text or json, not %q", format)}
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	return c
}

// version is what this program was built from.
func version() map[string]string {
	v := map[string]string{"version": "devel", "commit": "unknown", "go": runtime.Version(), "contract": strings.Join(wire.APIVersions, ", ")}
	if info, ok := debug.ReadBuildInfo(); ok {
		if m := info.Main.Version; m != "" && m != "(devel)" {
			v["version"] = m
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v["commit"] = s.Value
			}
		}
	}
	return v
}

func versionText() string {
	v := version()
	return fmt.Sprintf("%s (commit %s, %s, plugin contract %s)", v["version"], v["commit"], v["go"], v["contract"])
}
