package shell

import (
	"context"

	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/sdk/commands"
)

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
