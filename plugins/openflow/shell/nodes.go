package shell

import (
	"context"
	"fmt"
	"time"

	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
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
	others, err := s.elsewhere(ctx)
	if err != nil {
		return err
	}
	for _, o := range others {
		add(o, o.Source+", "+age(o.At)+" ago")
	}
	return in.Emit(t, nil)
}

func (s *Shell) links() commands.Command {
	return commands.Command{Name: "openflow:links", Summary: "Show the links between OpenFlow switches", Safe: true,
		Help: "Shows each direction of each link: a cable is two links. \"Both\" is false while frames pass in one direction\n" +
			"only. With a switch, only the links that begin there.\n\nExample: openflow:links openflow:1",
		Arguments: s.nodeArgument(), Run: s.runLinks}
}

func (s *Shell) runLinks(ctx context.Context, in *commands.Invocation) error {
	t := commands.Table{Empty: "No link is known.", Columns: []commands.Column{
		{Title: "From", Key: "source-tp"}, {Title: "To", Key: "dest-tp"}, {Title: "Both", Key: "both"},
		{Title: "Since", Key: "since"}, {Title: "Confirmed", Key: "confirmed"}, {Title: "Reported by", Key: "reported-by"},
	}}
	node := in.Arg("node")
	acting := false
	err := s.Ask(ctx, func(c *discovery.Core) {
		want, failed := s.wanted(c, in)
		if acting = c.Acting() && failed == nil; !acting {
			return
		}
		for _, l := range c.Links() {
			if want(l.From.Datapath) {
				t.Add(l.From.String(), l.To.String(), l.Both, l.Since.UTC().Format(time.RFC3339), l.Seen.UTC().Format(time.RFC3339), s.Node)
			}
		}
	})
	if err != nil {
		return err
	}
	if acting {
		return in.Emit(t, nil)
	}
	found := node == ""
	all := s.Observed()
	back := map[string]string{}
	for _, o := range all {
		for _, l := range o.Links {
			back[l.SourceTP] = l.DestTP
		}
	}
	for _, o := range all {
		if node != "" && o.Node.ID != node {
			continue
		}
		found = true
		for _, l := range o.Links {
			t.Add(l.SourceTP, l.DestTP, back[l.DestTP] == l.SourceTP, "", l.Observed.UTC().Format(time.RFC3339), o.Source+", "+age(o.At)+" ago")
		}
	}
	if !found {
		return fault.New(fault.NotFound, "no switch %s is connected; openflow:nodes lists those that are", node)
	}
	return in.Emit(t, nil)
}
