package server

import (
	"context"
	"fmt"
	"os"

	"ctl.internal/host/internal/console/settings"
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
type configTable struct{ s *Server }

// Validate implements tables.Config.
func (t configTable) Validate(ctx context.Context) []home.Problem {
	return settings.All(ctx, t.s.home, os.Environ(), feature.Locator{Dirs: []string{pluginDir(), t.s.home.Plugins()}})
}

// Effective implements tables.Config.
func (t configTable) Effective() []home.Effective { return t.s.loaded.Effective() }

// Home implements tables.Config.
func (t configTable) Home() home.Dir { return t.s.home }
