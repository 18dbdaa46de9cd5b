// Package service ties the parts of the plugin together.
package service

import (
	"context"
	"io/fs"
	"time"

	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/plugins/bier-channel/operations"
	"ctl.internal/plugins/bier-channel/shell"
	"ctl.internal/sdk"
	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/bier/models"
	"ctl.internal/sdk/fault"
)

// Settings are those of etc/bier-channel.yaml.
type Settings struct {
	DefaultTopology string `json:"default_topology"`
	DeployWait      string `json:"deploy_wait"`
}

// Options are what the plugin serves, from its embedded plugin.yaml and yang/.
func Options(files fs.FS) sdk.Options {
	manifest, _ := fs.ReadFile(files, "plugin.yaml") // its absence is told as an empty manifest
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
		return nil, fault.At(fault.Invalid, "deploy_wait", "%q is no time between 0s and 1m", set.DeployWait)
	}
	store := channels.NewStore(env.Host.Datastore)
	if err := store.Load(ctx); err != nil {
		return nil, err
	}
	known := &topologies{host: env.Host, views: map[string]bier.TopologyView{}}
	h := &operations.Handlers{Store: store, Default: set.DefaultTopology, Wait: wait,
		Topology: known.get, Settled: known.settled,
		Reconcile: func(ctx context.Context, nodes []string, wait time.Duration) map[string]bier.RouterState {
			return bier.Reconcile(ctx, env.Host.Operations, nodes, wait)
		}}
	sh := &shell.Shell{Handlers: h}
	ctx, cancel := context.WithCancel(ctx)
	published := make(chan struct{})
	go func() { defer close(published); publish(ctx, env.Host.Datastore, store) }()
	stop := func(ctx context.Context) error {
		cancel()
		select {
		case <-published:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return &sdk.Plugin{Operations: h.Mux(), Commands: sh.Commands(), Stop: stop}, nil
}
