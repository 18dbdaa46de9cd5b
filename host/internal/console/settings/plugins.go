package settings

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/plugin/process"
	"ctl.internal/internal/nearest"
)

// Plugins checks each etc/NAME.yaml against what the executable of that plugin says its
// settings are, as the controller does when it starts the plugin.
func Plugins(ctx context.Context, dir home.Dir, at feature.Locator) []home.Problem {
	var problems []home.Problem
	files, _ := filepath.Glob(dir.Etc("*.yaml")) // the pattern is well-formed
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if name == "ctl" {
			continue
		}
		if _, _, err := at.Locate(name); err != nil {
			problems = append(
				problems,
				home.Problem{
					File:    file,
					Warning: true,
					Text: fmt.Sprintf(
						"this file is not used: there is no plugin %q%s",
						name,
						nearest.Hint(name, at.Names()),
					),
				},
			)
			continue
		}
		text, _, err := dir.PluginConfig(name)
		if err != nil {
			continue // home.Validate reports it
		}
		schema, err := schemaOf(ctx, dir, name, at)
		if err != nil {
			problems = append(
				problems,
				home.Problem{
					File:    file,
					Warning: true,
					Text: fmt.Sprintf(
						"not checked, plugin %s does not say what its settings are: %v",
						name,
						err,
					),
				},
			)
			continue
		}
		problems = append(problems, home.ReadDocument(file, text, schema).Problems()...)
	}
	return problems
}

// schemaOf asks a plugin for its manifest, isolated as at its start; only a file that the catalogue's checksums
// know is executed, where there are such.
func schemaOf(ctx context.Context, dir home.Dir, name string, at feature.Locator) ([]byte, error) {
	path, sum, err := at.Locate(name)
	if err != nil {
		return nil, err
	}
	m, err := process.Describe(
		ctx,
		process.Spec{
			Path:    path,
			SHA256:  sum,
			Isolate: process.Alone(string(dir)),
		},
	)
	return m.GetConfigSchema(), err
}
