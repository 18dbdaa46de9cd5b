// Package service puts the packages of the plugin together: settings in, an HTTP
// handler and shell commands out, and everything ended in order.
package service

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"log/slog"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"ctl.internal/plugins/repoinfo/api"
	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/jobs"
	"ctl.internal/plugins/repoinfo/people"
	"ctl.internal/plugins/repoinfo/release"
	"ctl.internal/plugins/repoinfo/report"
	"ctl.internal/plugins/repoinfo/review"
	"ctl.internal/plugins/repoinfo/settings"
	"ctl.internal/plugins/repoinfo/syncer"
	"ctl.internal/plugins/repoinfo/turns"
	"ctl.internal/sdk"
	"ctl.internal/sdk/realm/trust"
)

// Prefix is where the host mounts the paths.
const Prefix = "/repoinfo"

// Service is the running plugin.
type Service struct {
	set     settings.Settings
	log     *slog.Logger
	health  func(sdk.Health)
	git     *gitcmd.Git
	folder  *clones.Folder
	jobs    *jobs.Store
	review  *review.Client // nil = none
	syncer  *syncer.Syncer
	turns   *turns.Queue
	api     *api.API
	handler http.Handler // without the prefix

	cancel context.CancelFunc
	group  sync.WaitGroup
}

// New makes the plugin for the host.
func New(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var set settings.Settings
	if err := env.DecodeConfig(&set); err != nil {
		return nil, err
	}
	s, err := buildService(set, env)
	if err != nil {
		return nil, err
	}
	if text := exposureWarning(set.Listen); text != "" {
		env.Warn(text)
	}
	debug.SetMemoryLimit(memory)
	s.start(ctx)
	return &sdk.Plugin{
		Routes:   http.StripPrefix(Prefix, s.handler),
		Commands: s.commandTable(),
		Stop:     s.stop,
	}, nil
}

// buildService makes the rooms; nothing runs yet.
func buildService(set settings.Settings, env *sdk.Env) (*Service, error) {
	dataDir := env.DataDir
	if err := set.Check(); err != nil {
		return nil, err
	}
	s := &Service{
		set:    set,
		log:    slog.Default(),
		health: env.Health,
		git:    &gitcmd.Git{Path: set.Git},
	}
	if env.Host != nil {
		s.git.TLS = (&gitTrust{
			dir:  filepath.Join(dataDir, "trust"),
			read: env.Host.Certificates.TrustPEM,
		}).gitEnviron
	}
	var err error
	if s.folder, err = clones.NewFolder(env.Below(set.Clones)[0], s.git); err != nil {
		return nil, err
	}
	if set.ReviewURL != "" {
		o := review.Options{
			URL:      set.ReviewURL,
			Username: set.Review.Username,
			Password: set.Review.Password,
			Timeout:  set.Review.Timeout.Duration,
			Budget:   set.Review.Budget.Duration,
			Fresh:    set.Review.Fresh.Duration,
			MaxBytes: set.Limits.ReviewBytes,
		}
		if env.Host != nil {
			o.TLS = trust.New(env.Host.Certificates, s.log).Client
		}
		if s.review, err = review.New(o); err != nil {
			return nil, err
		}
	}
	directory, err := people.New(
		pathBelowHome(env, set.Mailmap),
		pathBelowHome(env, set.Affiliations),
	)
	if err != nil {
		return nil, err
	}
	if directory.Machines, err = people.NewMachines(set.Machines); err != nil {
		return nil, err
	}
	s.folder.AllRefs = set.AllRefs
	s.jobs = jobs.Open(dataDir, set.Limits.AnswerBytes, s.log)
	lister := &history.Lister{
		Counts:       counts.NewTable(s.jobs),
		Jobs:         s.jobs,
		MessageLimit: set.Limits.MessageBytes,
	}
	s.turns = &turns.Queue{
		Places:  set.Limits.Walks,
		Started: set.Limits.Walks,
		Waiting: max(1, set.Limits.Queue/4),
		Total:   set.Limits.Queue,
		Slice:   slice,
	}
	s.syncer = syncer.New(syncer.Options{
		Folder:   s.folder,
		Lister:   lister,
		Renames:  set.Renames,
		Sources:  s.mirrorSources,
		Interval: set.Mirror.Interval.Duration,
		Parallel: set.Mirror.Parallel,
		Timeout:  set.Mirror.Timeout.Duration,
		Log:      s.log,
	})
	reports := &report.Maker{
		Folder:  s.folder,
		Lister:  lister,
		People:  directory,
		Timeout: set.Limits.WalkTimeout.Duration,
	}
	releases := &release.Maker{
		Reports: reports,
		Links:   linksOf(set),
	}
	if s.review != nil {
		releases.OpenChanges = s.openChanges
	}
	s.api = &api.API{
		Folder:    s.folder,
		Lister:    lister,
		Reports:   reports,
		Jobs:      s.jobs,
		Turns:     s.turns,
		Releases:  releases,
		Templates: release.Templates{Dir: pathBelowHome(env, set.Templates)},
		Syncer:    s.syncer,
		Review:    s.review,
		Log:       s.log,
		Renames:   set.Renames,
		Skip:      set.SkipReviewCommits,
		PathsOnly: set.PathsOnly,
		MaxPage:   set.Limits.Page,
		Timeout:   set.Limits.WalkTimeout.Duration,
		Secret:    s.jobs.Secret("cursors", newSecret),
	}
	s.handler = s.api.Handler()
	return s, nil
}

// memory is where the collector of the process works harder: large answers leave much
// garbage and little else.
const memory = 128 << 20

// slice is how long a walk runs before others go first.
const slice = 200 * time.Millisecond

func newSecret() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return b
}

// pathBelowHome is a path of the settings below the controller's home; empty stays empty.
func pathBelowHome(env *sdk.Env, path string) string {
	if path == "" {
		return ""
	}
	return env.Below(path)[0]
}

func (s *Service) start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(ctx)
	if err := s.checkGit(ctx); err != nil {
		s.log.Error("git cannot be used", "error", err)
		s.health(sdk.Health{
			State:  sdk.Degraded,
			Reason: err.Error(),
		})
	}
	s.group.Go(func() { s.syncer.Run(ctx) })
	if s.set.Listen != "" {
		s.group.Go(func() { s.serveListener(ctx) })
	}
}

// stop ends what start began, then lets go of the files.
func (s *Service) stop(ctx context.Context) error {
	s.cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.group.Wait()
		s.jobs.Close()
		if s.review != nil {
			s.review.Close()
		}
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mirrorSources are the repositories to mirror: those of the settings, and all of the
// review server when that is wanted.
func (s *Service) mirrorSources(ctx context.Context) ([]clones.Source, error) {
	var list []clones.Source
	named := map[string]bool{}
	for _, src := range s.set.Mirror.Sources {
		list = append(list, clones.Source{
			Project: src.Project,
			URL:     src.URL,
			Header:  basicAuthHeader(src.Username, src.Password),
		})
		named[src.Project] = true
	}
	if !s.set.Mirror.Review {
		return list, nil
	}
	projects, err := s.review.Projects(ctx)
	for _, p := range projects {
		if !named[p] {
			list = append(list, clones.Source{
				Project: p,
				URL:     s.review.CloneURL(p),
				Header:  basicAuthHeader(s.set.Review.Username, s.set.Review.Password),
			})
		}
	}
	return list, err
}

func basicAuthHeader(username, password string) string {
	if username == "" {
		return ""
	}
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))
}
