package server

import (
	"context"
	"fmt"
	"os"

	"ctl.internal/host/internal/console/settings"
	"ctl.internal/host/internal/console/tables"
	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/plugin"
)

// pluginTable is the supervisor with a check that knows settings and schema too.
type pluginTable struct {
	*plugin.Manager
	s *Server
}

// Check implements tables.Plugins.
func (t pluginTable) Check(_ context.Context, name string) ([]string, error) {
	i, err := t.Info(name)
	if err != nil {
		return nil, err
	}
	var found []string
	if !i.State.Serving() {
		found = append(found, fmt.Sprintf("it is %s: %s", i.State, i.Reason))
	}
	if err := t.Verify(name); err != nil {
		found = append(found, err.Error())
	}
	if i.Manifest != nil {
		if _, err := t.s.pluginSettings(name, i.Manifest.ConfigSchema); err != nil {
			found = append(found, err.Error())
		}
	}
	if why := t.s.catalog.refused(name); why != "" {
		found = append(found, "its YANG modules are refused: "+why)
	}
	return append(found, i.Warnings...), nil
}

// Decide implements tables.Plugins.
func (t pluginTable) Decide(ctx context.Context, name, by string, granted bool, grants []grant.Grant) error {
	if err := t.s.features.Decide(ctx, name, by, granted, grants); err != nil {
		return err
	}
	t.s.decided(name, by, granted, grants)
	return nil
}

// configTable shows the settings to the console.
func (s *Server) configTable() tables.Config {
	return tables.Config{Home: s.home, Effective: s.loaded.Effective, Validate: func(ctx context.Context) []home.Problem {
		return settings.All(ctx, s.home, os.Environ(), feature.Locator{Dirs: []string{pluginDir(), s.home.Plugins()}})
	}}
}
