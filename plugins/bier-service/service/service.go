// Package service ties the parts of the plugin together.
package service

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"ctl.internal/plugins/bier-service/drivers"
	"ctl.internal/plugins/bier-service/mounts"
	"ctl.internal/plugins/bier-service/operations"
	"ctl.internal/plugins/bier-service/reconcile"
	"ctl.internal/plugins/bier-service/shell"
	"ctl.internal/sdk"
	"ctl.internal/sdk/bier/models"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// Service is the running plugin.
type Service struct {
	host     *host.Client
	times    times
	mounts   *mounts.Table
	board    *drivers.Board
	engine   *reconcile.Engine
	sessions *sessions
	source   *source
	reports  chan report
	nudge    chan struct{} // topologies have changed
	repair   bool
	cancel   context.CancelFunc
	group    sync.WaitGroup
}

// Options are what the plugin serves, from its embedded plugin.yaml and yang/.
func Options(files fs.FS) sdk.Options {
	manifest, _ := fs.ReadFile(files, "plugin.yaml") // its absence is told as an empty manifest
	return sdk.Options{Manifest: manifest, YANG: models.With(files, "network-topology"), New: New, Commands: (&shell.Shell{}).Commands()}
}

// managedKey precedes the escaped ids of routers that may hold something of ours.
const managedKey = "managed/"

// New makes the plugin for the host.
func New(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var set Settings
	if err := env.DecodeConfig(&set); err != nil {
		return nil, err
	}
	t, err := set.times()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Service{host: env.Host, times: t, sessions: newSessions(), reports: make(chan report, waiting), nudge: make(chan struct{}, 1), repair: set.Drift != "report", cancel: cancel}
	s.mounts = mounts.New(env.Host, s.remounted)
	managed, err := s.load(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	s.board = drivers.New(env.Host.Switchboard, s.event, func() { s.engine.KickPending() })
	s.engine = reconcile.New(ctx, reconcile.Options{Target: s.mounts.Get, Apply: s.apply, Manage: s.manage, Report: s.report,
		Timeout: t.apply, RetryMin: t.retryMin, RetryMax: t.retryMax, Parallel: set.Parallel, Repair: s.repair}, managed)
	s.source = &source{host: env.Host, engine: s.engine}
	s.group.Go(func() { s.board.Follow(ctx) })
	s.group.Go(func() { s.mounts.Follow(ctx) })
	s.group.Go(func() { s.tell(ctx) })
	s.group.Go(func() { s.follow(ctx) })
	s.group.Go(func() { s.listen(ctx) })
	h := &operations.Handlers{Refresh: s.source.refresh, Engine: s.engine, Mounts: s.mounts}
	sh := &shell.Shell{Mounts: s.mounts, Board: s.board, Engine: s.engine, Session: s.sessions.get, Refresh: s.source.refresh}
	return &sdk.Plugin{Operations: h.Mux(), Commands: sh.Commands(), Stop: s.stop}, nil
}

// load reads the mounts and the routers that may hold something of ours.
func (s *Service) load(ctx context.Context) (managed []string, err error) {
	if err := s.mounts.Load(ctx); err != nil {
		return nil, err
	}
	for e, err := range s.host.Datastore.Range(ctx, host.Private, managedKey) {
		if err != nil {
			return nil, err
		}
		if node, err := url.PathUnescape(e.Key[len(managedKey):]); err == nil {
			managed = append(managed, node)
		}
	}
	return managed, nil
}

func (s *Service) manage(ctx context.Context, node string, on bool) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	key := managedKey + url.PathEscape(node)
	if !on {
		s.board.Forget(node)
		return s.host.Datastore.Delete(ctx, key)
	}
	return s.host.Datastore.Put(ctx, key, []byte("{}"))
}

func (s *Service) stop(ctx context.Context) error {
	s.cancel()
	done := make(chan struct{})
	go func() { s.engine.Wait(); s.group.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// apply chooses a driver and lets it apply.
func (s *Service) apply(ctx context.Context, r *bierdriver.Router, c *bierdriver.Config, dryRun bool) (*bierdriver.Result, string, error) {
	name, client, err := s.board.Choose(ctx, r, s.sessions.get(r.NodeId).GetCapabilities())
	if fault.KindOf(err) == fault.Unsupported && err != nil {
		return &bierdriver.Result{State: bierdriver.Failed, Reason: err.Error()}, name, nil
	}
	if err != nil {
		return nil, name, err
	}
	if len(c.Members) > 0 {
		wants, err := s.board.WantsMembers(ctx, name)
		if err != nil {
			return nil, name, fmt.Errorf("driver %s: %w", name, err)
		}
		if !wants {
			c = &bierdriver.Config{Global: c.Global, Channels: c.Channels}
		}
	}
	res, err := client.Apply(ctx, r, c, dryRun)
	if err != nil {
		return nil, name, fmt.Errorf("driver %s: %w", name, err)
	}
	s.mounts.Trust(ctx, r.NodeId, res.GetSession().GetHostKey())
	return res, name, nil
}

// remounted is called when a router is reached otherwise.
func (s *Service) remounted(node string) {
	if s.engine == nil {
		return // still loading
	}
	if s.mounts.Get(node) == nil {
		s.board.Forget(node)
		s.sessions.drop(node)
	}
	s.engine.Kick(node)
}

// event takes in what a driver tells of a router.
func (s *Service) event(driver string, e *bierdriver.Event) {
	switch {
	case e.Session != nil:
		before := s.sessions.put(e.NodeId, e.Session)
		if e.Session.State == bierdriver.Up { // it may have been replaced meanwhile
			s.engine.Kick(e.NodeId)
		}
		if e.Session.State != before && before == bierdriver.Up {
			s.report(e.NodeId, "the session is lost: "+e.Session.Reason)
		}
	case e.Drift != nil:
		s.report(e.NodeId, fmt.Sprintf("somebody else (%s) changed the router %s", e.Drift.By, e.Drift.What))
		s.engine.Kick(e.NodeId)
	case e.Notification != nil:
		s.report(e.NodeId, notification(e.Notification))
	default:
		slog.Debug("a driver told nothing that is known here", "driver", driver, "node", e.NodeId)
	}
}

func notification(n *bierdriver.Notification) string {
	switch n.Kind {
	case bierdriver.BFRIDCollision:
		return fmt.Sprintf("bfr-id-collision: another router has the bfr-id %d too", n.BfrId)
	case bierdriver.BFRZero:
		return fmt.Sprintf("bfr-zero: a router announces the bfr-id 0 with %s %s", n.Ipv4BfrPrefix, n.Ipv6BfrPrefix)
	case bierdriver.SubDomainIDCollision:
		return fmt.Sprintf("sub-domain-id-collision: sub-domain %d is in use with mt-id %d", n.SubDomainId, n.MtId)
	}
	return "a notification of a kind that is not known here"
}
