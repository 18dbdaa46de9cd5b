// Package service is the switch plugin: it puts its parts together and joins them to the host.
// rpc*.go are the RPCs, cmd*.go the shell commands, hold.go what the process does that holds the
// role switch-devices; settings, topology, events and records have files of their names.
package service

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/internal/switchcli/hostkeys"
	"ctl.internal/internal/together"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/plugins/switch/traps"
	"ctl.internal/plugins/switch/vendorfile"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/topology"
)

// Service is the running plugin. What it knows is in the datastore; the process that holds
// the role switch-devices acts on the switches, all of them answer.
type Service struct {
	set        Settings
	base       string // relative paths are below it
	source     string // this node, in what is written
	log        *slog.Logger
	health     func(sdk.Health)
	client     *snmp.Client
	clocks     *traps.Clocks // of SNMP engines, as answers prove them
	inventory  *switchlist.Inventory
	database   *switchlist.Database
	survey     *discovery.Surveyor
	publisher  *topology.Publisher
	events     *host.Publisher
	trapEvents *host.Publisher
	portEvents *host.Publisher
	alarms     *host.Publisher
	readings   readings
	drivers    *driver.Chooser
	standard   *mibdriver.Driver
	vendors    *vendorfile.Source
	keys       *hostkeys.Keys
	writer     *writes.Writer
	sdn        *driver.SDN
	plans      *plans
	discovered chan struct{} // a discovery has ended: SDN settings may be due
	surveyed   chan struct{} // the same: troubles may be other ones
	troubles   *host.Troubles

	store     *state.Store
	kept      *state.Table[keptInterval]
	engines   *state.Table[keptEngine]
	observed  *state.Table[observed]
	round     *state.Table[round]
	stations  *state.Table[[]sighting]
	trunks    trunks
	history   *ring[discovery.Change]
	lastTraps *ring[traps.Trap]
	trapsNow  *state.Table[trapState]
	seen      chan struct{} // what is observed has changed
	looked    func()        // closes firstLook
	firstLook chan struct{} // the files of the list were looked at
	exporter  atomic.Pointer[exporter]

	cancel context.CancelFunc // of all that goes on
	end    context.CancelFunc // of the projection, after it
	group  sync.WaitGroup
}

// idleSockets stay open between discoveries, for the RPCs.
const idleSockets = 16

// New makes the plugin for the host.
func New(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	s := &Service{
		log:        slog.Default(),
		health:     env.Health,
		source:     env.NodeName(),
		inventory:  switchlist.New(env.Host.Secrets),
		publisher:  &topology.Publisher{},
		clocks:     traps.NewClocks(),
		discovered: make(chan struct{}, 1),
		surveyed:   make(chan struct{}, 1),
		troubles:   env.Host.Troubles,
		seen:       make(chan struct{}, 1),
		firstLook:  make(chan struct{}),
	}
	s.looked = sync.OnceFunc(func() { close(s.firstLook) })
	if err := env.DecodeConfig(&s.set); err != nil {
		return nil, err
	}
	if err := s.set.check(); err != nil {
		return nil, err
	}
	s.base = env.Home()
	s.database = &switchlist.Database{
		Inventory: s.inventory,
		Files:     env.Below(s.set.Lists...),
		Source:    s.source,
	}
	s.client = snmp.NewClient(snmp.Options{
		Timeout:   s.set.SNMP.Timeout.Duration,
		Retries:   clientRetries(s.set.SNMP.Retries),
		Sockets:   s.set.SNMP.Sockets,
		PerSwitch: s.set.SNMP.PerSwitch,
		VarBinds:  s.set.SNMP.VarBinds,
		FromAny:   s.set.SNMP.Answers == snmp.FromAny,
		Clock: func(agent netip.Addr, engine string, boots, seconds uint32) {
			s.clocks.Prove(time.Now(), agent, engine, boots, seconds)
		},
	})
	if s.set.CLI.HostKeys == hostkeys.Any {
		env.Warn("cli.host_keys: any: whoever answers by SSH at a switch's address gets its password")
	}
	s.setUpDrivers(env)
	s.survey = discovery.New(discovery.Options{
		Inventory: s.inventory,
		Log:       s.log,
		Observe:   s.drivers.Observe,
		Refresh:   s.standard.Refresh,
		Infer:     s.standard.Evidence,
		Workers:   s.set.Discovery.Parallel,
		Deadline:  s.set.Discovery.Deadline.Duration,
		Publish:   s.publishNetwork,
		Finished:  s.finishDiscovery,
	})
	s.survey.Close()                       // until the role is held
	follow, end := context.WithCancel(ctx) // longer than what writes
	s.end = end
	ctx, s.cancel = context.WithCancel(ctx)
	if err := s.openState(follow, env.Host); err != nil {
		s.end()
		s.client.Close()
		return nil, err
	}
	s.events = host.NewPublisher(env.Host, stream, notification, waitingEvents, s.log)
	s.trapEvents = host.NewPublisher(env.Host, trapStream, trapNotification, waitingEvents, s.log)
	s.portEvents = host.NewPublisher(env.Host, portStream, portNotification, waitingEvents, s.log)
	s.alarms = host.NewPublisher(env.Host, portStream, alarmNotification, waitingEvents, s.log)
	if err := env.Metrics.Register(portMetrics{s}); err != nil {
		return nil, err
	}
	s.start(ctx)
	s.awaitList(ctx)
	return &sdk.Plugin{
		Operations: s.rpcMux(),
		Commands:   s.commandTable(),
		Topology:   s.publisher,
		State:      s.store,
		Stop:       s.stop,
	}, nil
}

// openState follows the plugin's data.
func (s *Service) openState(ctx context.Context, h *host.Client) (err error) {
	s.plans = newPlans(s.writer)
	s.kept = state.NewTable[keptInterval](state.Private(intervalPrefix))
	s.engines = state.NewTable[keptEngine](state.Private(enginePrefix))
	s.observed = state.NewTableWith(state.Private(observedPrefix), state.Packed(shortenRecord))
	s.round = state.NewTable[round](state.Private(roundPrefix))
	s.history = newRing[discovery.Change](historyPrefix, discovery.KeepChanges)
	s.stations = state.NewTable[[]sighting](state.Private(stationPrefix))
	s.lastTraps = newRing[traps.Trap](trapPrefix, s.set.Traps.Keep)
	s.trapsNow = state.NewTable[trapState](state.Private(trapStatePrefix))
	var opened atomic.Bool
	s.kept.Notify(func([]string) {
		if opened.Load() {
			s.survey.SetInterval(s.interval())
		}
	})
	s.observed.Notify(func([]string) { together.Notify(s.seen) })
	s.round.Notify(func([]string) { together.Notify(s.seen) })
	views := append(
		append(s.inventory.Views(), s.writer.Views()...),
		s.kept,
		s.engines,
		s.observed,
		s.round,
		s.stations,
		s.history.View(),
		s.lastTraps.View(),
		s.trapsNow,
		s.sdn.View(),
		s.plans.records,
		s.plans.steps,
	)
	if s.store, err = state.Open(ctx, h, views...); err != nil {
		return err
	}
	s.inventory.Bind(s.store)
	s.writer.Bind(s.store)
	s.sdn.Bind(s.store)
	opened.Store(true)
	return nil
}

// clientRetries turns the setting's 0, none, into what the client calls none.
func clientRetries(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// start does what goes on until the plugin stops.
func (s *Service) start(ctx context.Context) {
	for _, p := range []*host.Publisher{s.events, s.trapEvents, s.portEvents, s.alarms} {
		s.group.Go(func() { p.Run(ctx) })
	}
	s.group.Go(func() { s.drivers.Run(ctx) })
	s.group.Go(func() { s.adoptObserved(ctx) })
	s.group.Go(func() { s.database.NoteFiles(ctx, s.log) })
	s.group.Go(func() { s.store.Role(ctx, role, s.holdRole) })
}

// listTime bounds how long the plugin waits for its list at the start.
const listTime = 3 * time.Second

// awaitList lets the first call find the list of the file, where there has been none.
func (s *Service) awaitList(ctx context.Context) {
	if s.database.Listed() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	select {
	case <-s.firstLook:
	case <-ctx.Done(): // or the role is another process's
	}
}

// recentTraps is what switch:traps shows.
func (s *Service) recentTraps() (trapState, []traps.Trap, error) {
	if s.set.Traps.Listen == noTraps {
		return trapState{}, nil, fault.New(
			fault.Unsupported,
			"traps are off; traps.listen in etc/switch.yaml turns them on",
		)
	}
	now := s.store.Now()
	t, _ := s.trapsNow.Get(now, "")
	return t, s.lastTraps.Last(now), nil
}

// recentChanges is what switch:history shows.
func (s *Service) recentChanges() []discovery.Change {
	return s.history.Last(s.store.Now())
}

// publishNetwork hands a result to the watchers of the topology; the process that has observed
// it says what is different to the event stream and the history.
func (s *Service) publishNetwork(
	before, after *discovery.Network,
	cause discovery.Cause,
	by string,
) {
	s.publisher.Set(Topology(s.set.Topology, after))
	e := s.exporter.Load()
	if cause == discovery.Adopted || e == nil {
		return
	}
	var list []discovery.Change
	for _, c := range diffNetworks(before, after) {
		s.events.Publish(c)
		list = rememberChange(list, after.Built, cause, c)
	}
	for _, c := range portChanges(before, after, cause) {
		s.publishPort(c)
		list = append(list, c)
	}
	for i := range list {
		list[i].By = by
	}
	e.rememberChanges(list)
}
