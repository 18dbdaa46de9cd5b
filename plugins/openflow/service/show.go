package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/plugins/openflow/ofp13"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/topology"
)

func formatAge(t time.Time) string {
	return time.Since(t).Round(time.Second).String()
}

func formatTime(t time.Time) string {
	return t.UTC().Format(time.RFC3339)
}

// formatReporter is who has the session with a switch, and when that was.
func (o *record) formatReporter() string {
	return o.Source + ", " + formatAge(o.At) + " ago"
}

func (s *Service) listNodes(ctx context.Context, in *commands.Invocation) error {
	t := commands.Table{
		Empty: "No switch is connected.",
		Columns: []commands.Column{
			{
				Title: "Node",
				Key:   "node-id",
			}, {
				Title: "Datapath",
				Key:   "datapath-id",
			}, {Title: "Address", Key: "address"},
			{
				Title: "Up",
				Key:   "ports-up",
				Right: true,
			}, {
				Title: "Ports",
				Key:   "ports",
				Right: true,
			}, {Title: "Role", Key: "role"},
			{
				Title: "Since",
				Key:   "since",
			}, {
				Title: "Software",
				Key:   "software",
				Max:   32,
			}, {Title: "Problem", Key: "problem", Max: 80},
			{Title: "Reported by", Key: "reported-by"},
		},
	}
	var here []discovery.Switch
	if err := s.loop.askCore(ctx, func(c *discovery.Core) {
		here = c.Switches()
	}); err != nil {
		return err
	}
	add := func(w record, node string) {
		t.Add(discovery.NodeID(w.Datapath), fmt.Sprintf("%016x", w.Datapath), w.Remote, w.Up, w.Ports, roleName(w.Role),
			formatTime(w.Since), w.Software, w.Problem, node)
	}
	for _, w := range here {
		add(newRecord(w, topology.Node{}, nil), s.source)
	}
	for _, o := range s.switchesElsewhere(here) {
		add(o, o.formatReporter())
	}
	return in.Emit(t, nil)
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

func (s *Service) listLinks(ctx context.Context, in *commands.Invocation) error {
	t := commands.Table{
		Empty: "No link is known.",
		Columns: []commands.Column{
			{
				Title: "From",
				Key:   "source-tp",
			}, {
				Title: "To",
				Key:   "dest-tp",
			}, {Title: "Both", Key: "both"},
			{
				Title: "Since",
				Key:   "since",
			}, {
				Title: "Confirmed",
				Key:   "confirmed",
			}, {Title: "Reported by", Key: "reported-by"},
		},
	}
	acting := false
	err := s.loop.askCore(ctx, func(c *discovery.Core) {
		want, failed := s.selectSwitch(c, in)
		if acting = c.Acting() && failed == nil; !acting {
			return
		}
		for _, l := range c.Links() {
			if want(l.From.Datapath) {
				t.Add(
					l.From.String(),
					l.To.String(),
					l.Both,
					formatTime(l.Since),
					formatTime(l.Seen),
					s.source,
				)
			}
		}
	})
	if err != nil {
		return err
	}
	if acting {
		return in.Emit(t, nil)
	}
	node, all := in.Arg("node"), s.knownSwitches()
	found := node == ""
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
			t.Add(
				l.SourceTP,
				l.DestTP,
				back[l.DestTP] == l.SourceTP,
				"",
				formatTime(l.Observed),
				o.formatReporter(),
			)
		}
	}
	if !found {
		return notConnected(node)
	}
	return in.Emit(t, nil)
}

func (s *Service) listPorts(ctx context.Context, in *commands.Invocation) error {
	t := commands.Table{
		Empty: "No switch is connected.",
		Columns: []commands.Column{
			{
				Title: "Port",
				Key:   "tp-id",
			}, {
				Title: "Name",
				Key:   "name",
			}, {
				Title: "MAC",
				Key:   "mac",
			}, {Title: "State", Key: "state"},
			{
				Title: "Link to",
				Key:   "link-to",
			}, {
				Title: "Rx packets",
				Key:   "rx-packets",
				Right: true,
			}, {
				Title: "Tx packets",
				Key:   "tx-packets",
				Right: true,
			},
			{
				Title: "Rx bytes",
				Key:   "rx-bytes",
				Right: true,
			}, {
				Title: "Tx bytes",
				Key:   "tx-bytes",
				Right: true,
			},
			{
				Title: "Rx dropped",
				Key:   "rx-dropped",
				Right: true,
			}, {
				Title: "Rx errors",
				Key:   "rx-errors",
				Right: true,
			},
			{Title: "Reported by", Key: "reported-by"},
		},
	}
	var failed error
	var here []discovery.Switch
	err := s.loop.askCore(ctx, func(c *discovery.Core) {
		var want func(uint64) bool
		if want, failed = s.selectSwitch(c, in); failed != nil {
			return
		}
		here = c.Switches()
		for _, p := range c.Ports() {
			if want(p.ID.Datapath) {
				addPort(&t, p, s.source)
			}
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if in.Arg("node") == "" {
		for _, o := range s.switchesElsewhere(here) {
			addReported(&t, &o)
		}
	}
	return in.Emit(t, nil)
}

// addReported adds the ports of a switch that has its session with another node.
func addReported(t *commands.Table, o *record) {
	peers := map[string]string{}
	for _, l := range o.Links {
		peers[l.SourceTP] = l.DestTP
	}
	for _, id := range slices.Sorted(maps.Keys(o.Node.TPs)) {
		a := o.Node.TPs[id].Attributes
		t.Add(
			id,
			a["name"],
			a["mac"],
			a["state"],
			peers[id],
			nil,
			nil,
			nil,
			nil,
			nil,
			nil,
			o.formatReporter(),
		)
	}
}

func addPort(t *commands.Table, p discovery.Port, node string) {
	peer := ""
	if p.Peer != nil {
		peer = p.Peer.String()
	}
	kept := func(v uint64) any {
		if p.Measured.IsZero() || v == ofp13.NotKept {
			return nil
		}
		return v
	}
	t.Add(p.ID.String(), p.Port.Name, net.HardwareAddr(p.Port.Address[:]).String(), portState(p.Port), peer,
		kept(p.Stats.RxPackets), kept(p.Stats.TxPackets), kept(p.Stats.RxBytes), kept(p.Stats.TxBytes),
		kept(p.Stats.RxDropped), kept(p.Stats.RxErrors), node)
}

func portState(p ofp13.Port) string {
	switch {
	case p.Config&ofp13.ConfigDown != 0:
		return "disabled"
	case p.State&ofp13.StateDown != 0:
		return "down"
	case p.State&ofp13.StateBlock != 0:
		return "blocked"
	}
	return "up"
}

func (s *Service) listCounters(ctx context.Context, in *commands.Invocation) error {
	all, err := s.readCounters(ctx)
	if err != nil {
		return err
	}
	t := commands.Table{Columns: []commands.Column{{
		Title: "Counter",
		Key:   "counter",
	}, {Title: "Value", Key: "value", Right: true}}}
	for _, c := range all {
		t.Add(c.name, c.value)
	}
	return in.Emit(t, nil)
}
