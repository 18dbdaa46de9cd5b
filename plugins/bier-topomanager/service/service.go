package service

import (
	"context"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"

	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/plugins/bier-topomanager/operations"
	"ctl.internal/plugins/bier-topomanager/shell"
	"ctl.internal/plugins/bier-topomanager/sources"
	"ctl.internal/plugins/bier-topomanager/store"
	"ctl.internal/sdk"
	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/bier/models"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/topology"
)

// Settings are those of etc/bier-topomanager.yaml.
type Settings struct {
	Rename map[string]string `json:"rename"`
	Ignore []string          `json:"ignore"`
}

// Service is the running plugin.
type Service struct {
	host    *host.Client
	store   *store.Store
	merge   *sources.Merge
	imports *imports
	events  *events
	health  func(sdk.Health)
	cancel  context.CancelFunc
	group   sync.WaitGroup
}

// Commands describes the shell commands.
func Commands() []commands.Command { return (&shell.Shell{}).Commands() }

// New makes the plugin for the host.
func New(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var set Settings
	if err := env.DecodeConfig(&set); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Service{host: env.Host, merge: sources.NewMerge(set.Rename, set.Ignore), events: newEvents(env.Host), health: env.Health, cancel: cancel}
	s.store = store.New(env.Host.Datastore, s.events.changed)
	s.imports = &imports{data: env.Host.Datastore, merge: s.merge}
	if err := s.store.Load(ctx); err != nil {
		cancel()
		return nil, err
	}
	if err := s.imports.load(ctx); err != nil {
		cancel()
		return nil, err
	}
	s.group.Go(func() { s.merge.Follow(ctx, env.Host.Switchboard) })
	s.group.Go(func() { s.merge.FollowTree(ctx, env.Host.Datastore) })
	s.group.Go(func() { s.observe(ctx) })
	s.group.Go(func() { s.publish(ctx) })
	s.group.Go(func() { s.events.run(ctx) })
	h := &operations.Handlers{Store: s.store, InUse: s.inUse}
	sh := &shell.Shell{Home: filepath.Join(env.DataDir, "..", "..", ".."), Store: s.store, Sources: s.merge.Sources,
		Import: s.imports.put, Forget: s.imports.remove, Uses: s.channels}
	return &sdk.Plugin{Operations: h.Mux(), Commands: sh.Commands(), Stop: s.stop}, nil
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

// observe stores what the sources see.
func (s *Service) observe(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.merge.Wake():
		}
		for id, seen := range s.merge.Take() {
			if err := s.take(ctx, id, seen); err != nil && ctx.Err() == nil {
				slog.Warn("a topology was not stored; it will be with its next change", "topology", id, "err", err)
				s.health(sdk.Health{State: sdk.Degraded, Reason: "a topology was not stored: " + err.Error()})
				s.merge.Again(id)
			}
		}
	}
}

func (s *Service) take(ctx context.Context, id string, seen *topology.Topology) error {
	_, err := s.store.Do(ctx, func(m *model.Model) (*model.Change, error) {
		if seen == nil {
			return m.Unobserved(id), nil
		}
		return m.Observe(id, *seen), nil
	})
	return err
}

// channels reads the deployed channels.
func (s *Service) channels(ctx context.Context) (*bier.Channels, error) {
	v, err := bier.ReadChannels(ctx, s.host.Operations, bier.ChannelView{})
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return nil, nil // the plugin of channels is not installed, so there are none
	}
	return v.Channels, err
}

func (s *Service) inUse(ctx context.Context, topology string) (model.InUse, error) {
	c, err := s.channels(ctx)
	if err != nil {
		return nil, err
	}
	return func(node string, domain uint16, sub int) string { return c.Uses(topology, node, domain, sub) }, nil
}

// Options are what the plugin serves, from its embedded plugin.yaml and yang/.
func Options(files fs.FS) sdk.Options {
	manifest, _ := fs.ReadFile(files, "plugin.yaml") // its absence is told as an empty manifest
	return sdk.Options{Manifest: manifest, YANG: models.With(files, "network-topology"), New: New, Commands: Commands()}
}
