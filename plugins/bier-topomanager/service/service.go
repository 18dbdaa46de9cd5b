// Package service is the running plugin: its data, RPCs, commands and events.
package service

import (
	"context"
	"sync"

	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/sdk"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/topology"
)

// settings are those of etc/bier-topomanager.yaml.
type settings struct {
	Rename map[string]string `json:"rename"`
	Ignore []string          `json:"ignore"`
}

// Service is the running plugin.
type Service struct {
	host   *host.Client
	home   string // the controller's, for relative paths
	set    settings
	data   *data
	ask    *bierplugin.ServiceCalls
	health func(sdk.Health)
	group  sync.WaitGroup
}

// role is held by the process that takes the networks of sources in.
const role = "bier-import"

// Start makes the plugin for the host.
func Start(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var set settings
	if err := env.DecodeConfig(&set); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Service{
		host:   env.Host,
		home:   env.Home(),
		set:    set,
		data:   newData(set),
		health: env.Health,
		ask:    bierplugin.NewServiceCalls(ctx, env.Host),
	}
	e := newEvents(env.Host, s.data)
	if err := s.data.open(ctx, env.Host); err != nil {
		cancel()
		return nil, err
	}
	if err := s.data.catchUp(ctx); err != nil {
		cancel()
		return nil, err
	}
	s.group.Go(func() { e.publishChanges(ctx) })
	s.group.Go(func() { s.data.Store.Role(ctx, role, s.runImporting) })
	s.group.Go(func() {
		s.data.Store.WatchBroken(ctx, func(all map[string]error) {
			s.health(bierplugin.Health(all))
		})
	})
	return &sdk.Plugin{
		Operations: s.rpcMux(),
		Commands:   s.commandTable(),
		State:      s.data.Store,
		Check:      s.data.checkTransaction,
		Stop:       bierplugin.Stop(cancel, &s.group),
	}, nil
}

// importTopologies keeps topologies, all or none, each in place of what was imported under its id,
// with what is derived from them.
func (s *Service) importTopologies(ctx context.Context, all []topology.Topology) error {
	changes := map[string]*topology.Topology{}
	for i := range all {
		changes[all[i].ID] = &all[i]
	}
	return s.data.storeImports(ctx, changes)
}

// removeImport takes an import back.
func (s *Service) removeImport(ctx context.Context, id string) error {
	return s.data.storeImports(ctx, map[string]*topology.Topology{id: nil})
}
