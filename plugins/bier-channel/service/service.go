// Package service ties the parts of the plugin together.
package service

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"time"

	"ctl.internal/internal/bier/models"
	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/plugins/bier-channel/operations"
	"ctl.internal/plugins/bier-channel/shell"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
)

// Settings are those of etc/bier-channel.yaml.
type Settings struct {
	DefaultTopology string `json:"default_topology"`
	DeployWait      string `json:"deploy_wait"`
}

// Options are what the plugin serves, from its embedded plugin.yaml and yang/.
func Options(files fs.FS) sdk.Options {
	manifest, _ := fs.ReadFile(files, "plugin.yaml") // its absence is reported as an empty manifest
	return sdk.Options{Manifest: manifest, YANG: models.With(files), New: New, Commands: (&shell.Shell{}).Commands()}
}

// New makes the plugin for the host.
func New(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var set Settings
	if err := env.DecodeConfig(&set); err != nil {
		return nil, err
	}
	wait, err := time.ParseDuration(set.DeployWait)
	if err != nil || wait < 0 || wait > time.Minute {
		return nil, fault.At(fault.Invalid, "deploy_wait", "%q is not a time between 0s and 1m", set.DeployWait)
	}
	ctx, cancel := context.WithCancel(ctx)
	store, err := channels.Open(ctx, env.Host)
	if err != nil {
		cancel()
		return nil, err
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		store.WatchBroken(ctx, func(all map[string]error) { env.Health(health(all)) })
	}()
	stop := func(ctx context.Context) error {
		cancel()
		select {
		case <-watched:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	h := &operations.Handlers{Store: store, Default: set.DefaultTopology, Wait: wait}
	sh := &shell.Shell{Handlers: h}
	return &sdk.Plugin{Operations: h.Mux(), Commands: sh.Commands(), State: store.Store, Check: store.Check, Stop: stop}, nil
}

func health(broken map[string]error) sdk.Health {
	if len(broken) == 0 {
		return sdk.Health{State: sdk.Healthy}
	}
	first := slices.Min(slices.Collect(maps.Keys(broken)))
	return sdk.Health{State: sdk.Degraded, Reason: broken[first].Error() + "; it is kept as it is"}
}
