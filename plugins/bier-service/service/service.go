// Package service ties the parts of the plugin together.
package service

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"ctl.internal/internal/bier/models"
	"ctl.internal/plugins/bier-service/drivers"
	"ctl.internal/plugins/bier-service/operations"
	"ctl.internal/plugins/bier-service/shell"
	"ctl.internal/sdk"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/host"
)

// Service is the running plugin.
type Service struct {
	host    *host.Client
	times   times
	set     Settings
	opened  atomic.Bool // data is set
	data    *data
	board   *drivers.Board
	acting  atomic.Pointer[acting] // nil while another process holds the role
	moved   atomic.Uint64          // revision at which topologies or channels changed last
	intent  chan struct{}          // they have changed
	asked   chan struct{}          // routers are to be compared
	reports chan report
	health  func(sdk.Health)
	cancel  context.CancelFunc
	group   sync.WaitGroup
}

// role is held by the process that acts on routers.
const role = "bier-reconcile"

// Options are what the plugin serves, from its embedded plugin.yaml and yang/.
func Options(files fs.FS) sdk.Options {
	manifest, _ := fs.ReadFile(files, "plugin.yaml") // its absence is reported as an empty manifest
	return sdk.Options{Manifest: manifest, YANG: models.With(files, "network-topology"), New: New, Commands: (&shell.Shell{}).Commands()}
}

// New makes the plugin for the host.
func New(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	s := &Service{host: env.Host, reports: make(chan report, waiting), intent: make(chan struct{}, 1), asked: make(chan struct{}, 1), health: env.Health}
	if err := env.DecodeConfig(&s.set); err != nil {
		return nil, err
	}
	var err error
	if s.times, err = s.set.times(); err != nil {
		return nil, err
	}
	ctx, s.cancel = context.WithCancel(ctx)
	s.board = drivers.New(env.Host.Switchboard, s.event, s.driversChanged)
	if s.data, err = open(ctx, env.Host, s.intended, s.remounted, func() { wake(s.asked) }); err != nil {
		s.cancel()
		return nil, err
	}
	s.opened.Store(true)
	s.intended()
	s.group.Go(func() { s.board.Follow(ctx) })
	s.group.Go(func() { s.tell(ctx) })
	s.group.Go(func() {
		s.board.WaitListed(ctx) // else the first answers would be that there is no driver
		s.data.store.Role(ctx, role, s.act)
	})
	s.group.Go(func() { s.data.store.WatchBroken(ctx, s.broken) })
	h := &operations.Handlers{Routers: s, Mounts: s.data.Mounts}
	sh := &shell.Shell{Routers: s, Mounts: s.data.Mounts, Board: s.board}
	return &sdk.Plugin{Operations: h.Mux(), Commands: sh.Commands(), State: s.data.store, Check: s.data.Check, Stop: s.stop}, nil
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

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// intended is called when topologies or channels have changed.
func (s *Service) intended() {
	if s.opened.Load() { // else it is the first state, and New looks at it
		s.moved.Store(s.data.store.Now().Revision())
		wake(s.intent)
	}
}

func (s *Service) broken(all map[string]error) {
	wake(s.intent) // what could not be read may be readable now
	if len(all) == 0 {
		s.health(sdk.Health{State: sdk.Healthy})
		return
	}
	first := slices.Min(slices.Collect(maps.Keys(all)))
	s.health(sdk.Health{State: sdk.Degraded, Reason: all[first].Error() + "; it is kept as it is"})
}

// remounted is called when routers may be reached otherwise: what is configured is tried
// again, and answered for.
func (s *Service) remounted(nodes []string) {
	if a := s.acting.Load(); a != nil {
		a.remounted(nodes)
	}
	s.intended()
}

func (s *Service) driversChanged() {
	if a := s.acting.Load(); a != nil {
		a.engine.KickPending()
	}
}

// event takes in what a driver reports of a router.
func (s *Service) event(driver string, e *bierdriver.Event) {
	a := s.acting.Load()
	switch {
	case a == nil:
	case e.Session != nil:
		before := a.session(e.NodeId, e.Session)
		if e.Session.State == bierdriver.Up { // it may have been replaced meanwhile
			a.engine.Kick([]string{e.NodeId}, 0)
		}
		if e.Session.State != before && before == bierdriver.Up {
			s.report(e.NodeId, "the session is lost: "+e.Session.Reason)
		}
	case e.Drift != nil:
		s.report(e.NodeId, fmt.Sprintf("somebody else (%s) changed the router %s", e.Drift.By, e.Drift.What))
		a.engine.Kick([]string{e.NodeId}, 0)
	case e.Notification != nil:
		s.report(e.NodeId, notification(e.Notification))
	default:
		slog.Debug("a driver reported nothing that is known here", "driver", driver, "node", e.NodeId)
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
