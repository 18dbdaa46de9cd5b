package service

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Commands describes the console's commands of scope openflow.
func Commands() []commands.Command {
	return (&Service{}).commandTable()
}

// commandTable is the table of commands; those of the zero Service describe themselves only.
func (s *Service) commandTable() []commands.Command {
	node := []commands.Argument{{
		Name:     "node",
		Help:     "only this switch, as openflow:1",
		Complete: s.completeNode,
	}}
	return []commands.Command{
		{
			Name:    "openflow:nodes",
			Summary: "Show the OpenFlow switches that are connected",
			Safe:    true,
			Run:     s.listNodes,
			Help: "Shows each switch with its address, its ports (up and in all), the role this controller has there, since when\n" +
				"it has been connected, and what it refused to do, if anything.\n\nExample: openflow:nodes --format json",
		},
		{
			Name:      "openflow:links",
			Summary:   "Show the links between OpenFlow switches",
			Safe:      true,
			Arguments: node,
			Run:       s.listLinks,
			Help: "Shows each direction of each link: a cable is two links. \"Both\" is false while frames pass in one direction\n" +
				"only. With a switch, only the links that begin there.\n\nExample: openflow:links openflow:1",
		},
		{
			Name:      "openflow:ports",
			Summary:   "Show the ports of OpenFlow switches",
			Safe:      true,
			Arguments: node,
			Run:       s.listPorts,
			Help: "Shows each port with its state, where its link leads, and the counters of the newest reading (setting\n" +
				"statistics). An empty counter is one that the switch does not keep, or that is not read yet. With a switch, the\n" +
				"node that has the session with it answers. Without one, switches of other nodes are listed as those last\n" +
				"reported them, without counters.\n\nExample: openflow:ports openflow:1",
		},
		{
			Name:    "openflow:counters",
			Summary: "Show what the plugin has counted since it started",
			Safe:    true,
			Run:     s.listCounters,
			Help: "Shows connections, messages and LLDP frames. \"forged\" frames carry the mark of this plugin but not its key,\n" +
				"\"stale\" ones came too late to prove a link, \"ambiguous\" ones arrived at a second port (a hub in between).",
		},
	}
}

func (s *Service) completeNode(ctx context.Context, prefix string) (out []string) {
	if s.loop == nil {
		return nil
	}
	for _, o := range s.knownSwitches() {
		if strings.HasPrefix(o.Node.ID, prefix) {
			out = append(out, o.Node.ID)
		}
	}
	err := s.loop.askCore(ctx, func(c *discovery.Core) {
		for _, w := range c.Switches() {
			id := discovery.NodeID(w.Datapath)
			if strings.HasPrefix(id, prefix) && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	})
	if err != nil {
		return nil
	}
	return out
}

// selectSwitch checks the argument node: the list is of that switch, which must have a session
// with this process. The error for one that has a session with another leads there.
func (s *Service) selectSwitch(
	c *discovery.Core,
	in *commands.Invocation,
) (func(datapath uint64) bool, error) {
	node := in.Arg("node")
	if node == "" {
		return func(uint64) bool { return true }, nil
	}
	for _, w := range c.Switches() {
		if discovery.NodeID(w.Datapath) == node {
			return func(d uint64) bool { return d == w.Datapath }, nil
		}
	}
	for _, o := range s.knownSwitches() {
		if o.Node.ID == node {
			return nil, fault.OnNode(
				o.Source,
				"switch %s has no session with node %s; node %s had one %s ago",
				node,
				s.source,
				o.Source,
				formatAge(o.At),
			)
		}
	}
	return nil, notConnected(node)
}

func notConnected(node string) error {
	return fault.New(
		fault.NotFound,
		"no switch %s is connected; openflow:nodes lists those that are",
		node,
	)
}

// switchesElsewhere are the switches that this process has no session with.
func (s *Service) switchesElsewhere(here []discovery.Switch) []record {
	return slices.DeleteFunc(s.knownSwitches(), func(o record) bool {
		return slices.ContainsFunc(here, func(w discovery.Switch) bool {
			return w.Datapath == o.Datapath
		})
	})
}

// counter is one count, or (gauge) a number of the moment.
type counter struct {
	name  string
	value uint64
	gauge bool
}

// readCounters are all counts.
func (s *Service) readCounters(ctx context.Context) ([]counter, error) {
	var n discovery.Counters
	if err := s.loop.askCore(ctx, func(c *discovery.Core) {
		n = c.Counters()
	}); err != nil {
		return nil, err
	}
	e := s.server.Stats()
	return []counter{
		{"connections-now", uint64(e.Open), true}, {"connections", n.Connections, false}, {"connections-refused", n.Refused, false},
		{"connections-over-limit", e.Full, false}, {"switches-dead", n.Dead, false}, {"errors", n.Errors, false},
		{"port-status", n.PortStatus, false}, {"packet-in", n.PacketIns, false}, {"packet-in-over-limit", e.DroppedPackets, false},
		{"lldp-sent", n.FramesSent, false}, {"lldp-not-taken", e.DroppedFrames, false}, {"lldp-received", n.FramesReceived, false},
		{"lldp-forged", n.Forged, false}, {"lldp-foreign", n.Foreign, false}, {"lldp-malformed", n.Malformed, false},
		{"lldp-stale", n.Stale, false}, {"lldp-ambiguous", n.Ambiguous, false},
		{"links-found", n.LinksFound, false}, {"links-lost", n.LinksLost, false},
	}, nil
}

// collector gives the counts of openflow:counters to the host's /metrics.
type collector struct{ *Service }

// collectTimeout bounds how long the discovery may take to answer.
const collectTimeout = time.Second

// Describe implements prometheus.Collector; the counts are known when asked.
func (c collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	all, err := c.readCounters(ctx)
	if err != nil {
		return
	}
	for _, n := range all {
		name, kind := "ctl_openflow_"+strings.ReplaceAll(n.name, "-", "_"), prometheus.GaugeValue
		if !n.gauge {
			name, kind = name+"_total", prometheus.CounterValue
		}
		ch <- prometheus.MustNewConstMetric(
			prometheus.NewDesc(name, "See openflow:counters.", nil, nil),
			kind,
			float64(n.value),
		)
	}
}
