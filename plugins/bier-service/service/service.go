// Package service ties the parts of the plugin together.
package service

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/internal/together"
	"ctl.internal/plugins/bier-service/drivers"
	"ctl.internal/sdk"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// settings are those of etc/bier-service.yaml.
type settings struct {
	ApplyTimeout sdk.Duration `json:"apply_timeout"`
	Parallel     int          `json:"parallel"`
	RetryMin     sdk.Duration `json:"retry_min"`
	RetryMax     sdk.Duration `json:"retry_max"`
	Audit        sdk.Duration `json:"audit"`
	Proof        sdk.Duration `json:"proof"`
	ProofBudget  int          `json:"proof_budget"`
	ProofPackets int          `json:"proof_packets"`
	Drift        string       `json:"drift"`
}

// check is what the schema cannot say.
func (s *settings) check() error {
	const day = 24 * time.Hour
	faults := slices.Concat(
		fault.All(s.ApplyTimeout.Between("apply_timeout", time.Millisecond, day)),
		fault.All(s.RetryMin.Between("retry_min", time.Millisecond, day)),
		fault.All(s.RetryMax.Between("retry_max", time.Millisecond, day)),
		fault.All(s.Audit.Between("audit", 0, day)),
		fault.All(s.Proof.Between("proof", 0, day)))
	s.RetryMax.Duration = max(s.RetryMax.Duration, s.RetryMin.Duration)
	return faults.Err()
}

// Service is the running plugin.
type Service struct {
	set      settings
	opened   atomic.Bool // data is set
	data     *data
	registry *drivers.Registry
	acting   atomic.Pointer[acting] // nil while another process holds the role
	moved    atomic.Uint64          // revision at which topologies or channels changed last
	intent   chan struct{}          // they have changed
	asked    chan struct{}          // routers are to be compared
	look     chan struct{}          // what is known of routers has changed
	proving  chan struct{}          // and the proof of delivery is to take that in
	reports  *host.Publisher
	alarms   *host.Publisher
	replies  *host.Publisher // of echo requests
	echoes   *semaphore.Weighted
	standing *standing
	life     context.Context // of the plugin: what calls began ends with it
	measures *measures
	health   func(sdk.Health)
	// replaceTroubles replaces this plugin's part of the controller's list; nil: there is none.
	replaceTroubles func(context.Context, []host.Trouble) error
	group           sync.WaitGroup
}

// role is held by the process that acts on routers.
const role = "bier-reconcile"

// Start makes the plugin for the host.
func Start(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	s := &Service{
		intent:  make(chan struct{}, 1),
		asked:   make(chan struct{}, 1),
		look:    make(chan struct{}, 1),
		proving: make(chan struct{}, 1),
		health:  env.Health,

		standing: newStanding(),
	}
	if err := env.DecodeConfig(&s.set); err != nil {
		return nil, err
	}
	if err := s.set.check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s.reports = host.NewPublisher(
		env.Host,
		stream,
		"bier-service-api:report-message",
		waiting,
		slog.Default(),
	)
	s.alarms = host.NewPublisher(
		env.Host,
		stream,
		"bier-service-api:alarm",
		waiting,
		slog.Default(),
	)
	if env.Host.Troubles != nil {
		s.replaceTroubles = env.Host.Troubles.Replace
	}
	s.replies = host.NewPublisher(
		env.Host,
		stream,
		"bier-oam-api:receive-echo-reply",
		waiting,
		slog.Default(),
	)
	s.echoes, s.life = semaphore.NewWeighted(maxEchoes), ctx
	s.measures = newMeasures(env.Metrics)
	s.registry = drivers.New(env.Host.Switchboard, s.handleDriverEvent, s.driversChanged)
	var err error
	if s.data, err = openData(ctx, env.Host, s.handleIntentChange, s.handleRemount, func() {
		together.Notify(s.asked)
	}, s.notifyHealth); err != nil {
		cancel()
		return nil, err
	}
	s.opened.Store(true)
	s.handleIntentChange()
	s.group.Go(func() { s.registry.Follow(ctx) })
	s.group.Go(func() { s.reports.Run(ctx) })
	s.group.Go(func() { s.alarms.Run(ctx) })
	s.group.Go(func() { s.replies.Run(ctx) })
	s.group.Go(func() { s.watchHealth(ctx) })
	s.group.Go(func() {
		s.registry.WaitListed(ctx) // else the first answers would be that there is no driver
		s.data.store.Role(ctx, role, s.runActing)
	})
	s.group.Go(func() { s.data.store.WatchBroken(ctx, s.reportBroken) })
	return &sdk.Plugin{
		Operations: s.rpcMux(),
		Commands:   s.commandTable(),
		State:      s.data.store,
		Check:      s.data.Check,
		Stop:       bierplugin.Stop(cancel, &s.group),
	}, nil
}

// handleIntentChange is called when topologies or channels have changed.
func (s *Service) handleIntentChange() {
	if s.opened.Load() { // else it is the first state, and New looks at it
		s.moved.Store(s.data.store.Now().Revision())
		together.Notify(s.intent)
		together.Notify(s.look)
		together.Notify(s.proving)
	}
}

func (s *Service) reportBroken(all map[string]error) {
	together.Notify(s.intent) // what could not be read may be readable now
	s.health(bierplugin.Health(all))
}

// handleRemount is called when routers may be reached otherwise: what is configured is tried
// again, and answered for.
func (s *Service) handleRemount(nodes []string) {
	if a := s.acting.Load(); a != nil {
		a.handleRemount(nodes)
	}
	s.handleIntentChange()
}

func (s *Service) driversChanged() {
	if a := s.acting.Load(); a != nil {
		a.engine.KickPending()
	}
}

// handleDriverEvent takes in what a driver reports of a router.
func (s *Service) handleDriverEvent(driver string, e *bierdriver.Event) {
	a := s.acting.Load()
	switch {
	case a == nil:
	case e.Session != nil:
		before := a.recordSession(e.NodeId, e.Session)
		if e.Session.State != before {
			s.measures.sessions.WithLabelValues(drivers.NewSession(e.Session).State).Inc()
		}
		if e.Session.State == bierdriver.Up { // it may have been replaced meanwhile
			a.engine.Kick([]string{e.NodeId}, 0)
		}
		if before == bierdriver.Up &&
			(e.Session.State == bierdriver.Down || e.Session.State == bierdriver.Refused) {
			s.reportToOperator(e.NodeId, "the session is lost: "+e.Session.Reason)
		}
	case e.Drift != nil:
		s.reportToOperator(
			e.NodeId,
			fmt.Sprintf("somebody else (%s) changed the router %s", e.Drift.By, e.Drift.What),
		)
		a.engine.Kick([]string{e.NodeId}, 0)
	case e.Notification != nil:
		s.reportToOperator(e.NodeId, formatNotification(e.Notification))
		a.recordNotice(e.NodeId, e.Notification)
	default:
		slog.Debug(
			"a driver reported nothing that is known here",
			"driver",
			driver,
			"node",
			e.NodeId,
		)
	}
}

// stream is the event stream of routers, waiting how many reports may wait for the host.
const (
	stream  = "bier-service"
	waiting = 1024
)

// reportToOperator notifies an operator, in the log and on the event stream, without waiting.
func (s *Service) reportToOperator(node, text string) {
	slog.Warn("BIER router", "node", node, "report", text)
	s.reports.Publish(map[string]string{
		"failure-reason": text,
		"node-id":        node,
	})
}

func formatNotification(n *bierdriver.Notification) string {
	switch n.Kind {
	case bierdriver.BFRIDCollision:
		return fmt.Sprintf("bfr-id-collision: another router has the bfr-id %d too", n.BfrId)
	case bierdriver.BFRZero:
		return fmt.Sprintf(
			"bfr-zero: a router announces the bfr-id 0 with %s %s",
			n.Ipv4BfrPrefix,
			n.Ipv6BfrPrefix,
		)
	case bierdriver.SubDomainIDCollision:
		return fmt.Sprintf(
			"sub-domain-id-collision: sub-domain %d is in use with mt-id %d",
			n.SubDomainId,
			n.MtId,
		)
	}
	return "a notification of a kind that is not known here"
}
