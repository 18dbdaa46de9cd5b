package shell

import (
	"context"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/sdk/commands"
)

// edges shows each cable once: of the two directions the one whose tail is smaller.
func (s *Shell) edges() commands.Command {
	return commands.Command{
		Name: "switch:edges", Summary: "Show the edges found by the last discovery", Safe: true,
		Help: "One line a cable. Confirmed: both ends told of it. Source: what told of it; stp and fdb are inferred, for\n" +
			"switches without LLDP and CDP, and less sure. A PR node is a device outside the switch list.\n" +
			"Shows what is known; switch:TopoDiscover asks the switches again.",
		Run: func(ctx context.Context, in *commands.Invocation) error {
			n, err := s.Survey.Await(ctx)
			if err != nil {
				return err
			}
			names := map[string]string{}
			for _, node := range n.Nodes {
				names[node.ID] = node.Name
			}
			t := commands.Table{Empty: "No edges", Columns: []commands.Column{
				{Title: "Node", Key: "node"}, {Title: "Name", Key: "name", Max: 24}, {Title: "Port", Key: "port", Right: true},
				{Title: "Peer", Key: "peer"}, {Title: "Name", Key: "peer-name", Max: 24}, {Title: "Port", Key: "peer-port", Right: true},
				{Title: "Confirmed", Key: "confirmed"}, {Title: "Source", Key: "source"},
				{Title: "Age", Key: "age-seconds", Right: true}}}
			both := map[[2]discovery.End]bool{}
			for _, e := range n.Edges {
				both[[2]discovery.End{e.Tail, e.Head}] = true
			}
			for _, e := range n.Edges {
				if both[[2]discovery.End{e.Head, e.Tail}] && e.Head.Node < e.Tail.Node {
					continue
				}
				t.Add(e.Tail.Node, names[e.Tail.Node], e.Tail.Port, e.Head.Node, names[e.Head.Node], e.Head.Port, e.Confirmed, e.Source,
					int(time.Since(e.Observed).Seconds()))
			}
			return in.Emit(t, nil)
		},
	}
}
