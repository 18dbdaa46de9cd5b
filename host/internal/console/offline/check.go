package offline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
)

// checkCommand puts an executable through the conformance test of plugins.
func checkCommand() commands.Command {
	return commands.Command{Name: "plugin:check", Run: func(ctx context.Context, in *commands.Invocation) error {
		var opts []plugintest.Option
		if file := in.Option("config"); file != "" {
			settings, err := readSettings(file)
			if err != nil {
				return fault.Wrap(fault.Invalid, err, "%v", err)
			}
			opts = append(opts, plugintest.WithConfig(settings))
		}
		if only := in.Args["only"]; len(only) > 0 {
			opts = append(opts, plugintest.WithChecks(only...))
		}
		t := &commands.Table{Empty: "in order", Columns: []commands.Column{
			{Title: "Check", Key: "check"}, {Title: "Kind", Key: "kind"}, {Title: "Finding", Key: "finding"}}}
		faults := 0
		for _, f := range plugintest.Check(ctx, in.Arg("bin"), opts...) {
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
		return fmt.Errorf("%s does not hold what a plugin must (faults: %d)", filepath.Base(in.Arg("bin")), faults)
	}}
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
