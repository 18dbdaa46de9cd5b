// Package service puts the rooms of the OpenFlow plugin together and joins them to
// the host: settings in, topology, events and commands out. Its loop is the one
// goroutine that package discovery is used in.
package service

import (
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/openflow/channel"
	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/plugins/openflow/lldp"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/topology"
)

// Service is the running plugin.
type Service struct {
	set       Settings
	source    string // this node, in what is written
	log       *slog.Logger
	server    *channel.Server
	publisher *topology.Publisher
	events    *host.Publisher
	loop      *loop
	store     *state.Store
	observed  *state.Table[record]
	seen      chan struct{}            // what is observed has changed
	exporter  atomic.Pointer[exporter] // nil: another process acts
	cancel    context.CancelFunc
	end       context.CancelFunc // of the projection, after all else
	group     sync.WaitGroup
}

// New makes the plugin for the host.
func New(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var set Settings
	if err := env.DecodeConfig(&set); err != nil {
		return nil, err
	}
	if err := set.check(); err != nil {
		return nil, err
	}
	secure, err := tlsConfig(ctx, &set, env.Host)
	if err != nil {
		return nil, err
	}
	fit, warning := allowedConnections(set.Limits.Connections)
	if warning != "" {
		env.Warn(warning)
	}
	// The key lives as long as this process: frames of an earlier one prove nothing.
	key := make(lldp.Key, 32)
	rand.Read(key)
	s := &Service{
		set:       set,
		source:    env.NodeName(),
		log:       slog.Default(),
		publisher: &topology.Publisher{},
		seen:      make(chan struct{}, 1),
	}
	s.server, err = channel.Listen(channel.Options{
		Listen:      set.Listen,
		TLS:         secure,
		Connections: fit,
		Outbox:      set.Limits.Outbox,
		Messages:    set.Limits.Messages,
		PacketIns:   set.Limits.PacketIns,
		Log:         s.log,
	})
	if err != nil {
		return nil, fault.Wrap(
			fault.Unavailable,
			err,
			"switches cannot connect: %v; change `listen` in etc/openflow.yaml, or stop the program that listens there",
			err,
		)
	}
	s.log.Info("switches may connect", "listen", s.server.Addr().String(), "tls", secure != nil)
	s.observed = state.NewTableWith(state.Private(observedPrefix), state.Packed(shortenPorts))
	s.observed.Notify(func([]string) { together.Notify(s.seen) })
	follow, end := context.WithCancel(ctx)
	s.end = end
	if s.store, err = state.Open(follow, env.Host, s.observed); err != nil {
		end()
		s.server.Close()
		return nil, err
	}
	s.publisher.Set(s.storedTopology())
	s.events = host.NewPublisher(env.Host, stream, notification, waitingEvents, s.log)
	s.loop = newLoop(discovery.New(set.coreOptions(key)), s.server, s.publishView, s.log)
	env.Health(sdk.Health{
		State:   sdk.Healthy,
		Details: map[string]string{"listen": s.server.Addr().String()},
	})
	ctx, s.cancel = context.WithCancel(ctx)
	s.group.Go(func() { s.loop.run(ctx) })
	s.group.Go(func() { s.events.Run(ctx) })
	s.group.Go(func() { s.publishObserved(ctx) })
	s.group.Go(func() { s.store.Role(ctx, role, s.holdRole) })
	if env.Metrics != nil {
		if err := env.Metrics.Register(collector{s}); err != nil {
			s.log.Warn("the counters are not in the metrics", "err", err)
		}
	}
	return &sdk.Plugin{
		Commands: s.commandTable(),
		Topology: s.publisher,
		State:    s.store,
		Stop:     s.stop,
	}, nil
}

// knownSwitches is what the process that acts has written.
func (s *Service) knownSwitches() (out []record) {
	for _, o := range s.observed.All(s.store.Now(), "") {
		out = append(out, o)
	}
	return out
}

// publishView hands a view to the watchers of the topology, to the event stream and to the
// datastore, if this process acts; else they see what that one writes.
func (s *Service) publishView(t topology.Topology, switches []discovery.Switch) {
	e := s.exporter.Load()
	if e == nil {
		return
	}
	e.takeObservation(observation{t, switches})
	t = e.withInherited(topology.Topology{
		ID:       t.ID,
		Nodes:    maps.Clone(t.Nodes),
		Links:    maps.Clone(t.Links),
		Observed: t.Observed,
	})
	before, _ := s.publisher.Get(t.ID)
	s.publisher.Set(t)
	if c, differs := topology.Diff(before, t); differs {
		for _, e := range splitChanges(before, c) {
			s.events.Publish(e)
		}
	}
}

// stop removes the rules from the switches, as far as the grace allows, and ends
// what New began.
func (s *Service) stop(ctx context.Context) error {
	s.loop.shutdownLoop(ctx)
	s.cancel()
	s.server.Close()
	s.group.Wait()
	s.end()
	return nil
}

// The event stream, its notification, and how many changes may wait.
const (
	stream        = "openflow-topology"
	notification  = "openflow-topology:topology-changed"
	waitingEvents = 1024
)

// change is the notification topology-changed of module openflow-topology.
type change struct {
	Topology string   `json:"topology-id"`
	Added    []string `json:"added-node,omitempty"`
	Changed  []string `json:"changed-node,omitempty"`
	Removed  []string `json:"removed-node,omitempty"`
	Links    []edge   `json:"added-link,omitempty"`
	Lost     []string `json:"removed-link,omitempty"`
}

type edge struct {
	ID         string `json:"link-id"`
	SourceNode string `json:"source-node"`
	SourceTP   string `json:"source-tp"`
	DestNode   string `json:"dest-node"`
	DestTP     string `json:"dest-tp"`
}

// perEvent bounds the entries of one event.
const perEvent = 500

// splitChanges is a change of the topology as events of bounded size.
func splitChanges(before topology.Topology, c topology.Change) []change {
	var out []change
	count := 0
	at := func() *change {
		if count%perEvent == 0 {
			out = append(out, change{Topology: c.TopologyID})
		}
		count++
		return &out[len(out)-1]
	}
	for _, id := range c.RemovedLinks {
		e := at()
		e.Lost = append(e.Lost, id)
	}
	for _, id := range c.RemovedNodes {
		e := at()
		e.Removed = append(e.Removed, id)
	}
	for _, n := range c.PutNodes {
		e := at()
		if _, known := before.Nodes[n.ID]; known {
			e.Changed = append(e.Changed, n.ID)
		} else {
			e.Added = append(e.Added, n.ID)
		}
	}
	for _, l := range c.PutLinks {
		e := at()
		e.Links = append(e.Links, edge{l.ID, l.SourceNode, l.SourceTP, l.DestNode, l.DestTP})
	}
	return out
}
