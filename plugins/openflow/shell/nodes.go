package shell

import (
	"context"
	"fmt"
	"time"

	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/topology"
)

func (s *Shell) nodes() commands.Command {
	return commands.Command{Name: "openflow:nodes", Summary: "Show the OpenFlow switches that are connected", Safe: true,
		Help: "Shows each switch with its address, its ports (up and in all), the role this controller has there, since when\n" +
			"it has been connected, and what it refused to do, if anything.\n\nExample: openflow:nodes --format json",
		Run: s.runNodes}
}

func (s *Shell) runNodes(ctx context.Context, in *commands.Invocation) error {
	t := commands.Table{Empty: "No switch is connected.", Columns: []commands.Column{
		{Title: "Node", Key: "node-id"}, {Title: "Datapath", Key: "datapath-id"}, {Title: "Address", Key: "address"},
		{Title: "Up", Key: "ports-up", Right: true}, {Title: "Ports", Key: "ports", Right: true}, {Title: "Role", Key: "role"},
		{Title: "Since", Key: "since"}, {Title: "Software", Key: "software", Max: 32}, {Title: "Problem", Key: "problem", Max: 80},
		{Title: "Reported by", Key: "reported-by"},
	}}
	var list []discovery.Switch
	if err := s.Ask(ctx, func(c *discovery.Core) { list = c.Switches() }); err != nil {
		return err
	}
	add := func(w Observed, node string) {
		t.Add(discovery.NodeID(w.Datapath), fmt.Sprintf("%016x", w.Datapath), w.Remote, w.Up, w.Ports, roleName(w.Role),
			w.Since.UTC().Format(time.RFC3339), w.Software, w.Problem, node)
	}
	for _, w := range list {
		add(NewObserved(w, topology.Node{}, nil), s.Node)
	}
	others, _, err := s.elsewhere(ctx)
	if err != nil {
		return err
	}
	for _, o := range others {
		add(o, o.Source+", "+age(o.At)+" ago")
	}
	return in.Emit(t, nil)
}
