// Package service is the running plugin: its data, RPCs, commands and events.
package service

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/internal/together"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/topology"
)

// settings are those of etc/bier-topomanager.yaml.
type settings struct {
	Rename map[string]string `json:"rename"`
	Ignore []string          `json:"ignore"`
}

// Service is the running plugin.
type Service struct {
	host     *host.Client
	home     string // the controller's, for relative paths
	set      settings
	data     *data
	ask      *bierplugin.ServiceCalls
	networks chan struct{} // what users imported or configured has changed
	health   func(sdk.Health)
	group    sync.WaitGroup
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
	s := &Service{host: env.Host, home: env.Home(), set: set, data: newData(), networks: make(chan struct{}, 1),
		health: env.Health, ask: bierplugin.NewServiceCalls(ctx, env.Host)}
	networks := func([]string) { together.Notify(s.networks) }
	s.data.Imported.Notify(networks)
	s.data.Networks.Notify(networks)
	s.data.Points.Notify(networks)
	s.data.Lines.Notify(networks)
	e := newEvents(env.Host, s.data)
	if err := s.data.open(ctx, env.Host); err != nil {
		cancel()
		return nil, err
	}
	s.group.Go(func() { e.run(ctx) })
	s.group.Go(func() { s.data.Store.Role(ctx, role, s.importing) })
	s.group.Go(func() { s.data.Store.WatchBroken(ctx, func(all map[string]error) { s.health(bierplugin.Health(all)) }) })
	return &sdk.Plugin{Operations: s.mux(), Commands: s.commands(), State: s.data.Store, Check: s.data.check,
		Stop: bierplugin.Stop(cancel, &s.group)}, nil
}

// takeIn bounds how long an import waits until its topologies are there.
const takeIn = 10 * time.Second

// imported keeps topologies, all or none, each in place of what was imported under its
// id, and waits until their nodes are there.
func (s *Service) imported(ctx context.Context, all []topology.Topology) error {
	_, err := s.data.Store.Update(ctx, func(tx *state.Tx) error {
		for _, t := range all {
			if err := s.data.Imported.Put(tx, t.ID, t); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, takeIn)
	defer cancel()
	if s.data.Store.WaitUntil(ctx, func(now *state.Snapshot) bool {
		return !slices.ContainsFunc(all, func(t topology.Topology) bool { return s.missing(now, t) })
	}) != nil {
		return fault.New(fault.Unavailable, "the import is stored but was not processed within %s; bier:topo-list will show it", takeIn)
	}
	return nil
}

// missing reports whether a network is not taken in yet.
func (s *Service) missing(now *state.Snapshot, t topology.Topology) bool {
	if slices.Contains(s.set.Ignore, t.ID) {
		return false
	}
	id := cmp.Or(s.set.Rename[t.ID], t.ID)
	seen, _ := s.data.Observed.Get(now, id)
	if !slices.Contains(seen.Sources, imports) {
		return true
	}
	for node := range t.Nodes {
		if _, ok := s.data.Nodes.Get(now, id, bier.ShortID(node)); !ok {
			return true
		}
	}
	return false
}

// forget takes an import back.
func (s *Service) forget(ctx context.Context, id string) error {
	_, err := s.data.Store.Update(ctx, func(tx *state.Tx) error {
		if _, ok := s.data.Imported.Get(tx, id); !ok {
			return fault.New(fault.NotFound, "there is no imported topology %q", id)
		}
		s.data.Imported.Delete(tx, id)
		return nil
	})
	return err
}
