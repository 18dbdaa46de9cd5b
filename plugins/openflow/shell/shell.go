// Package shell is the shell commands of scope openflow.
package shell

import (
	"context"
	"slices"
	"strings"

	"ctl.internal/plugins/openflow/channel"
	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/plugins/openflow/ofp13"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Shell is what the commands need. The zero Shell describes them; it cannot run one.
type Shell struct {
	// Ask calls a function with the state of the discovery, in its own goroutine.
	Ask  func(context.Context, func(*discovery.Core)) error
	Edge func() channel.Stats
	// Observed is what the process that acts on the switches has written.
	Observed func() []Observed
	Node     string // the node that this process runs on
}

// Commands returns the table of commands.
func (s *Shell) Commands() []commands.Command {
	return []commands.Command{s.nodes(), s.links(), s.ports(), s.counters()}
}

// nodeArgument limits a list to one switch.
func (s *Shell) nodeArgument() []commands.Argument {
	return []commands.Argument{{Name: "node", Help: "only this switch, as openflow:1", Complete: s.completeNode}}
}

func (s *Shell) completeNode(ctx context.Context, prefix string) []string {
	var out []string
	if s.Ask == nil {
		return nil
	}
	for _, o := range s.Observed() {
		if strings.HasPrefix(o.Node.ID, prefix) {
			out = append(out, o.Node.ID)
		}
	}
	err := s.Ask(ctx, func(c *discovery.Core) {
		for _, w := range c.Switches() {
			if id := discovery.NodeID(w.Datapath); strings.HasPrefix(id, prefix) && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	})
	if err != nil {
		return nil
	}
	return out
}

// wanted checks the argument node: the list is of that switch, which must have a session
// with this process. The error for one that has a session with another leads there.
func (s *Shell) wanted(c *discovery.Core, in *commands.Invocation) (func(datapath uint64) bool, error) {
	node := in.Arg("node")
	if node == "" {
		return func(uint64) bool { return true }, nil
	}
	for _, w := range c.Switches() {
		if discovery.NodeID(w.Datapath) == node {
			return func(d uint64) bool { return d == w.Datapath }, nil
		}
	}
	for _, o := range s.Observed() {
		if o.Node.ID == node {
			return nil, fault.OnNode(o.Source, "switch %s has no session with node %s; node %s had one %s ago", node, s.Node, o.Source, age(o.At))
		}
	}
	return nil, fault.New(fault.NotFound, "no switch %s is connected; openflow:nodes lists those that are", node)
}

func roleName(r uint32) string {
	switch r {
	case ofp13.RoleEqual:
		return "equal"
	case ofp13.RoleMaster:
		return "master"
	case ofp13.RoleSlave:
		return "slave"
	}
	return "unknown"
}

func (s *Shell) counters() commands.Command {
	return commands.Command{Name: "openflow:counters", Summary: "Show what the plugin has counted since it started", Safe: true,
		Help: "Shows connections, messages and LLDP frames. \"forged\" frames carry the mark of this plugin but not its key,\n" +
			"\"stale\" ones came too late to prove a link, \"ambiguous\" ones arrived at a second port (a hub in between).",
		Run: s.runCounters}
}

// Counter is one count, or (Gauge) a number of the moment.
type Counter struct {
	Name  string
	Value uint64
	Gauge bool
}

// Counters returns all counts.
func (s *Shell) Counters(ctx context.Context) ([]Counter, error) {
	var n discovery.Counters
	if err := s.Ask(ctx, func(c *discovery.Core) { n = c.Counters() }); err != nil {
		return nil, err
	}
	e := s.Edge()
	return []Counter{
		{"connections-now", uint64(e.Open), true}, {"connections", n.Connections, false}, {"connections-refused", n.Refused, false},
		{"connections-over-limit", e.Full, false}, {"switches-dead", n.Dead, false}, {"errors", n.Errors, false}, {"port-status", n.PortStatus, false},
		{"packet-in", n.PacketIns, false}, {"packet-in-over-limit", e.DroppedPackets, false}, {"lldp-sent", n.FramesSent, false},
		{"lldp-not-taken", e.DroppedFrames, false}, {"lldp-received", n.FramesReceived, false}, {"lldp-forged", n.Forged, false},
		{"lldp-foreign", n.Foreign, false}, {"lldp-malformed", n.Malformed, false}, {"lldp-stale", n.Stale, false}, {"lldp-ambiguous", n.Ambiguous, false},
		{"links-found", n.LinksFound, false}, {"links-lost", n.LinksLost, false},
	}, nil
}

func (s *Shell) runCounters(ctx context.Context, in *commands.Invocation) error {
	all, err := s.Counters(ctx)
	if err != nil {
		return err
	}
	t := commands.Table{Columns: []commands.Column{{Title: "Counter", Key: "counter"}, {Title: "Value", Key: "value", Right: true}}}
	for _, c := range all {
		t.Add(c.Name, c.Value)
	}
	return in.Emit(t, nil)
}
