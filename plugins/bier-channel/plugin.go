// Package bierchannel is the plugin of multicast flows through BIER domains.
//
// Package channels decides and keeps, operations and shell serve. What routers
// must hold for it is package bier's, that they get it the plugin bier-service's.
package bierchannel

import (
	"context"
	"embed"
	"sync"
	"time"

	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/plugins/bier-channel/operations"
	"ctl.internal/plugins/bier-channel/shell"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml yang
var files embed.FS

// Options describe the plugin.
func Options() sdk.Options {
	return bierplugin.Options(files, start, (&shell.Shell{}).Commands())
}

// settings are those of etc/bier-channel.yaml.
type settings struct {
	DefaultTopology string       `json:"default_topology"`
	DeployWait      sdk.Duration `json:"deploy_wait"`
}

func start(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var set settings
	if err := env.DecodeConfig(&set); err != nil {
		return nil, err
	}
	if err := set.DeployWait.Between("deploy_wait", 0, time.Minute); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	store, err := channels.Open(ctx, env.Host)
	if err != nil {
		cancel()
		return nil, err
	}
	var group sync.WaitGroup
	group.Go(func() {
		store.WatchBroken(ctx, func(all map[string]error) { env.Health(bierplugin.Health(all)) })
	})
	h := &operations.Handlers{Store: store, Default: set.DefaultTopology, Wait: set.DeployWait.Duration}
	sh := &shell.Shell{Handlers: h}
	return &sdk.Plugin{Operations: h.Mux(), Commands: sh.Commands(), State: store.Store, Check: store.Check,
		Stop: bierplugin.Stop(cancel, &group)}, nil
}
