package service

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"ctl.internal/plugins/switch/changes"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/inventory"
	"ctl.internal/plugins/switch/journal"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/operations"
	"ctl.internal/plugins/switch/sdn"
	"ctl.internal/plugins/switch/shell"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/survey"
	"ctl.internal/plugins/switch/traps"
	"ctl.internal/plugins/switch/xmldriver"
	"ctl.internal/sdk"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/switchcli/hostkeys"
	"ctl.internal/sdk/topology"
)

// Service is the running plugin.
type Service struct {
	set        Settings
	base       string   // relative paths are below it
	lists      []string // paths of the default lists
	log        *slog.Logger
	health     func(sdk.Health)
	client     *snmp.Client
	inventory  *inventory.Inventory
	survey     *survey.Surveyor
	publisher  *topology.Publisher
	events     *host.Publisher
	interval   *interval
	drivers    *driver.Chooser
	database   *inventory.Database
	journal    *journal.Journal
	vendors    *xmldriver.Source
	keys       *hostkeys.Keys
	sdn        *sdn.Applier
	discovered chan struct{} // a discovery has ended
	release    func()        // of the right to change switches
	standard   *mibdriver.Driver
	traps      *traps.Receiver // nil: off
	trapped    *host.Publisher
	history    *changes.Log
	kept       *lastGood
	cancel     context.CancelFunc
	group      sync.WaitGroup
}

// idleSockets stay open between discoveries, for the RPCs.
const idleSockets = 16

// Commands describes the shell commands.
func Commands() []commands.Command { return (&shell.Shell{}).Commands() }

// New makes the plugin for the host.
func New(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	s := &Service{log: slog.Default(), health: env.Health, inventory: inventory.New(opener(env.Host)), publisher: &topology.Publisher{},
		history: &changes.Log{}, kept: newLastGood(env.DataDir), discovered: make(chan struct{}, 1)}
	if err := env.DecodeConfig(&s.set); err != nil {
		return nil, err
	}
	if err := s.set.check(); err != nil {
		return nil, err
	}
	s.base = home(env.DataDir)
	s.lists = s.below(s.set.Lists)
	last := lastList{env.Host}
	if p := last.load(ctx, s.log); p != "" {
		s.lists = append([]string{p}, s.lists...)
	}
	s.client = snmp.NewClient(snmp.Options{Timeout: s.set.SNMP.Timeout.Std(), Retries: retries(s.set.SNMP.Retries),
		Sockets: s.set.SNMP.Sockets, PerSwitch: s.set.SNMP.PerSwitch, VarBinds: s.set.SNMP.VarBinds})
	if s.set.CLI.HostKeys == hostkeys.Any {
		env.Warn("cli.host_keys: any: whoever answers by SSH at a switch's address gets its password")
	}
	if err := s.drive(ctx, env); err != nil {
		s.client.Close()
		return nil, err
	}
	s.events = host.NewPublisher(env.Host, stream, notification, waitingEvents, s.log)
	s.interval = &interval{env.Host, s.set.Discovery.Interval.Std()}
	s.survey = survey.New(survey.Options{Inventory: s.inventory, Log: s.log,
		Observe: s.drivers.Observe, Refresh: s.standard.Refresh, Infer: s.standard.Evidence,
		Workers: s.set.Discovery.Parallel, Deadline: s.set.Discovery.Deadline.Std(), Interval: s.interval.load(ctx, s.log),
		Publish: s.publish, Finished: s.tidy})
	s.database = inventory.NewDatabase(s.inventory, env.Host, s.lists)
	s.receive(ctx, env.Host)
	s.start(ctx)
	handlers := &operations.Handlers{Inventory: s.inventory, Drivers: s.drivers, Survey: s.survey, List: s.database, SaveInterval: s.interval.save}
	sh := &shell.Shell{Home: s.base, Vendors: s.vendors, Keys: s.keys, Inventory: s.inventory, Drivers: s.drivers, Survey: s.survey, Database: s.database, Journal: s.journal, SDN: s.sdn,
		Remember: last.save, Traps: s.traps, History: s.history}
	return &sdk.Plugin{Operations: handlers.Mux(), Commands: sh.Commands(), Topology: s.publisher, Stop: s.stop}, nil
}

// retries turns the setting's 0, none, into what the client calls none.
func retries(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// start loads the list, follows it, and discovers.
func (s *Service) start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(ctx)
	kept, err := s.database.Load(ctx)
	l := s.inventory.Last()
	if err == nil && !kept {
		l, err = s.inventory.LoadFirst(ctx, s.lists)
	}
	switch {
	case err == nil:
		inventory.Report(s.log, l)
	case errors.Is(err, &fault.Error{Kind: fault.NotFound}):
		s.log.Info("no switch list, so nothing is discovered; load one with switch:ReadDB", "err", err)
	default:
		s.log.Warn("the switch list is not loaded", "err", err)
		s.health(sdk.Health{State: sdk.Degraded, Reason: err.Error()})
	}
	s.group.Go(func() {
		if err := s.inventory.Follow(ctx, s.lists, s.log); err != nil {
			s.log.Warn("changes of the switch list are not noticed", "err", err)
		}
	})
	s.group.Go(func() { s.events.Run(ctx) })
	if s.traps != nil {
		s.group.Go(func() { s.trapped.Run(ctx) })
		s.group.Go(func() { s.traps.Run(ctx) })
	}
	if obs, err := s.kept.load(); err != nil {
		s.log.Warn("what the switches told before is not known; it is observed again", "err", err)
	} else {
		s.survey.Restore(obs)
	}
	s.group.Go(func() { s.drivers.Run(ctx) })
	s.group.Go(func() { s.drivers.Settle(ctx, s.find) })
	s.group.Go(func() { s.followSDN(ctx) })
	s.survey.Start()
}

// receive makes the receiver of traps.
func (s *Service) receive(ctx context.Context, h *host.Client) {
	if s.set.Traps.Listen == noTraps {
		return
	}
	s.trapped = host.NewPublisher(h, trapStream, trapNotification, waitingEvents, s.log)
	desk := &trapDesk{survey: s.survey, events: s.trapped}
	s.traps = traps.New(traps.Options{Listen: s.set.Traps.Listen, Inventory: s.inventory, Engine: newEngine(ctx, h, s.log),
		Keep: s.set.Traps.Keep, Log: s.log, Handle: desk.handle})
}

// opener opens the sealed texts of the switch list; without a host nothing does.
func opener(h *host.Client) inventory.Opener {
	if h == nil {
		return nil
	}
	return h.Secrets.OpenText
}

// stop ends what start began; a change of a switch under way has the grace.
func (s *Service) stop(ctx context.Context) error {
	s.cancel()
	done := make(chan struct{})
	go func() {
		s.survey.Close()
		s.group.Wait()
		s.client.Close()
		s.keep()
		s.release()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// publish hands a result to the watchers of the topology and to the event stream.
func (s *Service) publish(before, after *discovery.Network, cause survey.Cause) {
	s.publisher.Set(Topology(s.set.Topology, after))
	for _, e := range diff(before, after) {
		s.events.Publish(e)
		remember(s.history, after.Built, cause, e)
	}
}

// keep saves what the switches told.
func (s *Service) keep() {
	if err := s.kept.save(time.Now(), s.survey.Observations()); err != nil {
		s.log.Warn("what the switches told is not kept over a restart", "err", err)
	}
}

// tidy gives back what a discovery needed only for itself.
func (s *Service) tidy() {
	inUse := map[netip.AddrPort]bool{}
	for _, e := range s.inventory.Entries() {
		inUse[netip.AddrPortFrom(e.Address, e.Port)] = true
	}
	s.client.Trim(idleSockets, inUse)
	s.drivers.Forget(func(node uint64) bool { _, err := s.find(node); return err == nil })
	if s.kept.due(time.Now()) {
		s.keep()
	}
	select {
	case s.discovered <- struct{}{}:
	default:
	}
	s.health(sdk.Health{State: sdk.Healthy, Details: map[string]string{
		"switches": s.inventory.Last().Path, "discovery": s.survey.Last().String()}})
}
