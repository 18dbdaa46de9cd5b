package server

import (
	"context"
	"slices"
	"strings"

	"ctl.internal/host/internal/console/offline"
	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/internal/console"
	"ctl.internal/internal/together"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// openFeatures starts the plugins of the installed features and follows what comes
// and goes.
func (s *Server) openFeatures(ctx context.Context) error {
	s.featuresChanged = make(chan struct{}, 1)
	var err error
	s.features, err = feature.New(ctx, feature.Options{
		Dir:     s.home,
		Store:   s.store,
		Plugins: runner{s.plugins},
		Locate:  offline.Locator(s.home, "").Locate,
		Granted: func(plugin, by string, grants []grant.Grant) {
			s.noteGrantDecision(plugin, by, true, grants)
		},
		Trusted: s.noteKeyDecision,
		Room:    func() { useReserve(s.home) },
		Publish: func(t feature.Target) {
			s.makeKeystores(t)
			together.Notify(s.featuresChanged)
			s.refreshSchemaAndRoutes()
		},
		Boot: s.loaded.Features.Boot,
		Log:  s.registry.Logger("org.ctl.feature"),
		Booted: func(names []string) {
			s.writeAudit(logs.AuditRecord{
				What:    "install features",
				Object:  "at the first start: " + strings.Join(names, ", "),
				Outcome: passed,
				Class:   logs.ClassAccess,
			}, true)
		},
	})
	if err != nil {
		return err
	}
	for _, p := range s.features.Problems() {
		s.log.Warn("a part of the catalogue was left out", "problem", p.String())
	}
	if err := s.features.Restore(ctx); err != nil {
		return err
	}
	s.refreshSchemaAndRoutes()
	s.runInBackground(ctx, "features of the cluster", s.features.Run)
	s.runInBackground(ctx, "watch of the plugins", s.followPlugins)
	s.followTroubles(ctx)
	s.runInBackground(ctx, "mirror of the topologies", s.mirrorTopologies)
	s.runInBackground(ctx, "history of the event streams", func(ctx context.Context) error {
		return s.restconf.Record(ctx, s.catalog.Changed)
	})
	return nil
}

// programDir is where the running ctld lies.
func programDir() string {
	dir, err := console.ProgramDir()
	if err != nil {
		return "."
	}
	return dir
}

// noteProgramDir writes for etc/idmtool where the programs of this controller are.
func (s *Server) noteProgramDir() {
	err := home.WriteFile(s.home.Data("program-dir"), []byte(programDir()+"\n"), 0o600)
	if err != nil {
		s.log.Warn("etc/idmtool will not find its program by itself", "error", err)
	}
}

// runner runs plugins for the feature manager.
type runner struct{ *plugin.Manager }

func (r runner) Ensure(ctx context.Context, p feature.PluginSpec) error {
	return r.Manager.Ensure(
		ctx,
		plugin.Spec{
			Name:   p.Name,
			Path:   p.Path,
			Args:   p.Args,
			SHA256: p.SHA256,
			Facets: p.Facets,
			Held:   p.Held,
			Files:  p.Files,
			Origin: p.Origin,
		},
	)
}

// followPlugins refreshes what depends on the manifests at every change of a plugin.
func (s *Server) followPlugins(ctx context.Context) error {
	for {
		changed := s.plugins.Changed()
		s.refreshSchemaAndRoutes()
		s.reportRunning()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-s.featuresChanged:
		}
	}
}

// refreshSchemaAndRoutes brings schema and routes up to date with what runs and which facets are
// on. A plugin that is restarting keeps its place: its callers are asked to wait.
func (s *Server) refreshSchemaAndRoutes() {
	if s.features == nil {
		return
	}
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	target := s.features.Active()
	manifests := s.plugins.Manifests()
	if !s.seen.hasChanged(target, manifests) {
		return
	}
	s.catalog.updateSchema(manifests, target.Rest)
	s.router.updateRoutes(manifests)
}

// seen is what the last refresh was made from.
type seen struct {
	features  []*feature.Feature
	manifests []*pluginv1.Manifest
	done      bool
}

// hasChanged reports whether a refresh has to be made, and takes the new state. Features and manifests that say the same
// are the same values.
func (o *seen) hasChanged(t feature.Target, manifests []*pluginv1.Manifest) bool {
	same := o.done && slices.Equal(o.features, t.Features) && slices.Equal(o.manifests, manifests)
	*o = seen{t.Features, manifests, true}
	return !same
}
