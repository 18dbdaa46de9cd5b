package service

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ctl.internal/internal/bier/models"
	"ctl.internal/plugins/bier-topomanager/data"
	"ctl.internal/plugins/bier-topomanager/operations"
	"ctl.internal/plugins/bier-topomanager/shell"
	"ctl.internal/sdk"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/topology"
)

// Settings are those of etc/bier-topomanager.yaml.
type Settings struct {
	Rename map[string]string `json:"rename"`
	Ignore []string          `json:"ignore"`
}

// Service is the running plugin.
type Service struct {
	host     *host.Client
	set      Settings
	data     *data.Data
	networks chan struct{} // what users imported or configured has changed
	health   func(sdk.Health)
	cancel   context.CancelFunc
	group    sync.WaitGroup
}

// role is held by the process that takes the networks of sources in.
const role = "bier-import"

// Commands describes the shell commands.
func Commands() []commands.Command { return (&shell.Shell{}).Commands() }

// New makes the plugin for the host.
func New(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var set Settings
	if err := env.DecodeConfig(&set); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Service{host: env.Host, set: set, data: data.New(), networks: make(chan struct{}, 1), health: env.Health, cancel: cancel}
	networks := func([]string) {
		select {
		case s.networks <- struct{}{}:
		default:
		}
	}
	s.data.Imported.Notify(networks)
	s.data.Networks.Notify(networks)
	s.data.Points.Notify(networks)
	s.data.Lines.Notify(networks)
	e := newEvents(env.Host, s.data)
	if err := s.data.Open(ctx, env.Host); err != nil {
		cancel()
		return nil, err
	}
	s.group.Go(func() { e.run(ctx) })
	s.group.Go(func() { s.data.Store.Role(ctx, role, s.importing) })
	s.group.Go(func() { s.data.Store.WatchBroken(ctx, s.broken) })
	h := &operations.Handlers{Data: s.data}
	sh := &shell.Shell{Home: filepath.Join(env.DataDir, "..", "..", ".."), Data: s.data, Import: s.imported, Forget: s.forget}
	return &sdk.Plugin{Operations: h.Mux(), Commands: sh.Commands(), State: s.data.Store, Check: s.data.Check, Stop: s.stop}, nil
}

func (s *Service) broken(all map[string]error) {
	if len(all) == 0 {
		s.health(sdk.Health{State: sdk.Healthy})
		return
	}
	first := slices.Min(slices.Collect(maps.Keys(all)))
	s.health(sdk.Health{State: sdk.Degraded, Reason: all[first].Error() + "; it is kept as it is"})
}

func (s *Service) stop(ctx context.Context) error {
	s.cancel()
	done := make(chan struct{})
	go func() { s.group.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
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
		return fault.New(fault.Unavailable, "the import is stored but was not taken in within %s; bier:topo-list will show it", takeIn)
	}
	return nil
}

// missing reports whether a network is not taken in yet.
func (s *Service) missing(now *state.Snapshot, t topology.Topology) bool {
	if slices.Contains(s.set.Ignore, t.ID) {
		return false
	}
	id := t.ID
	if to := s.set.Rename[id]; to != "" {
		id = to
	}
	seen, _ := s.data.Observed.Get(now, id)
	if !slices.Contains(seen.Sources, imports) {
		return true
	}
	for node := range t.Nodes {
		if _, ok := s.data.Nodes.Get(now, id, strings.TrimPrefix(node, "openflow:")); !ok {
			return true
		}
	}
	return false
}

// forget takes an import back.
func (s *Service) forget(ctx context.Context, id string) error {
	_, err := s.data.Store.Update(ctx, func(tx *state.Tx) error {
		if _, ok := s.data.Imported.Get(tx, id); !ok {
			return fault.New(fault.NotFound, "no topology %q was imported", id)
		}
		s.data.Imported.Delete(tx, id)
		return nil
	})
	return err
}

// Options are what the plugin serves, from its embedded plugin.yaml and yang/.
func Options(files fs.FS) sdk.Options {
	manifest, _ := fs.ReadFile(files, "plugin.yaml") // its absence is reported as an empty manifest
	return sdk.Options{Manifest: manifest, YANG: models.With(files, "network-topology"), New: New, Commands: Commands()}
}
