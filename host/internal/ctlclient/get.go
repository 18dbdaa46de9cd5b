package ctlclient

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"ctl.internal/internal/console"
)

// shown are the things that ctl get lists, each with the command of the controller that does.
var shown = map[string][]string{
	"features":   {"feature:list", "--installed"},
	"plugins":    {"plugin:list"},
	"switches":   {"switch:PrintDB"},
	"edges":      {"switch:edges"},
	"inventory":  {"switch:inventory"},
	"topologies": {"bier:topo-list"},
	"channels":   {"bier:channel-list"},
	"routers":    {"bier:session-list"},
	"users":      {"aaa:get-users"},
	"realms":     {"realm:list"},
	"nodes":      {"cluster:status"},
	"settings":   {"config:show", "--effective"},
}

func (o *options) getCommand() *cobra.Command {
	var form string
	kinds := slices.Sorted(maps.Keys(shown))
	c := &cobra.Command{
		Use:   "get KIND [NAME] | get /rests/data/…",
		Short: "show what the controller has, as a table, JSON or YAML",
		Args:  cobra.RangeArgs(1, 2),
		Long:  "KIND is one of " + strings.Join(kinds, ", ") + ",\nor a resource of RESTCONF. With NAME only the rows are shown in which a cell is NAME.",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return kinds, cobra.ShellCompDirectiveNoFileComp
			}
			return o.completeCells(shown[args[0]]), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if form != "table" && form != "json" && form != "yaml" {
				return coded{console.Usage, fmt.Errorf("-o must be table, json or yaml, not %q", form)}
			}
			line, known := shown[args[0]]
			resource := strings.HasPrefix(args[0], "/")
			if !known && !resource {
				return coded{console.Usage, fmt.Errorf(
					"unknown kind %q, expected one of %s, or a path",
					args[0],
					strings.Join(kinds, ", "),
				)}
			}
			if form == "table" && len(args) == 1 && known {
				return o.oneLine(cmd.Context(), console.Join(line))
			}
			l, err := o.dialConsole(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			var v any
			if resource {
				var out []byte
				if out, err = l.callCommand(
					strings.NewReader(""),
					"restconf:call",
					"GET",
					args[0],
				); err == nil {
					err = json.Unmarshal(out, &v)
				}
			} else {
				err = l.readJSON(&v, line...)
			}
			if err != nil {
				return err
			}
			if len(args) == 2 {
				if v = rowsNamed(v, args[1]); v == nil {
					return coded{console.NotFound, fmt.Errorf("%s has no %s", args[0], args[1])}
				}
			}
			if form == "json" {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(v)
			}
			return yaml.NewEncoder(cmd.OutOrStdout()).Encode(v)
		},
	}
	c.Flags().StringVarP(
		&form,
		"output",
		"o",
		"table",
		"table, json or yaml; what is no table is shown as yaml",
	)
	return c
}

// rowsNamed are the rows in which a cell is a name.
func rowsNamed(v any, name string) any {
	var out []any
	rows, _ := v.([]any)
	for _, r := range rows {
		cells, ok := r.(map[string]any)
		if ok &&
			slices.ContainsFunc(slices.Collect(maps.Values(cells)), func(c any) bool {
				return fmt.Sprint(c) == name
			}) {
			out = append(out, r)
		}
	}
	if out == nil {
		return nil
	}
	return out
}

// completeCells are the names of a list, for completion.
func (o *options) completeCells(line []string) []string {
	if line == nil {
		return nil
	}
	l, err := o.dialConsole(context.Background())
	if err != nil {
		return nil
	}
	defer l.close()
	var rows []map[string]any
	if l.readJSON(&rows, line...) != nil {
		return nil
	}
	var out []string
	for _, r := range rows {
		for _, key := range []string{"name", "topology", "topology-id", "key", "realm", "node", "ip-address"} {
			if text, ok := r[key].(string); ok {
				out = append(out, text)
				break
			}
		}
	}
	return out
}
