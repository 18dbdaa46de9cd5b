package shell

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"

	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/plugins/openflow/ofp13"
	"ctl.internal/sdk/commands"
)

func (s *Shell) ports() commands.Command {
	return commands.Command{Name: "openflow:ports", Summary: "Show the ports of OpenFlow switches", Safe: true,
		Help: "Shows each port with its state, where its link leads, and the counters of the newest reading (setting\n" +
			"statistics). An empty counter is one that the switch does not keep, or that is not read yet. With a switch, the\n" +
			"node that has the session with it answers. Without one, switches of other nodes are listed as those last\n" +
			"reported them, without counters.\n\nExample: openflow:ports openflow:1",
		Arguments: s.nodeArgument(), Run: s.runPorts}
}

func (s *Shell) runPorts(ctx context.Context, in *commands.Invocation) error {
	t := commands.Table{Empty: "No switch is connected.", Columns: []commands.Column{
		{Title: "Port", Key: "tp-id"}, {Title: "Name", Key: "name"}, {Title: "MAC", Key: "mac"}, {Title: "State", Key: "state"},
		{Title: "Link to", Key: "link-to"}, {Title: "Rx packets", Key: "rx-packets", Right: true}, {Title: "Tx packets", Key: "tx-packets", Right: true},
		{Title: "Rx bytes", Key: "rx-bytes", Right: true}, {Title: "Tx bytes", Key: "tx-bytes", Right: true},
		{Title: "Rx dropped", Key: "rx-dropped", Right: true}, {Title: "Rx errors", Key: "rx-errors", Right: true},
		{Title: "Reported by", Key: "reported-by"},
	}}
	var failed error
	err := s.Ask(ctx, func(c *discovery.Core) {
		var want func(uint64) bool
		if want, failed = s.wanted(c, in); failed != nil {
			return
		}
		for _, p := range c.Ports() {
			if want(p.ID.Datapath) {
				addPort(&t, p, s.Node)
			}
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if in.Arg("node") == "" {
		others, err := s.elsewhere(ctx)
		if err != nil {
			return err
		}
		for _, o := range others {
			addReported(&t, o)
		}
	}
	return in.Emit(t, nil)
}

// addReported adds the ports of a switch that has its session with another node.
func addReported(t *commands.Table, o Observed) {
	peers := map[string]string{}
	for _, l := range o.Links {
		peers[l.SourceTP] = l.DestTP
	}
	for _, id := range slices.Sorted(maps.Keys(o.Node.TPs)) {
		a := o.Node.TPs[id].Attributes
		t.Add(id, a["name"], a["mac"], a["state"], peers[id], nil, nil, nil, nil, nil, nil, o.Source+", "+age(o.At)+" ago")
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
		kept(p.Stats.RxPackets), kept(p.Stats.TxPackets), kept(p.Stats.RxBytes), kept(p.Stats.TxBytes), kept(p.Stats.RxDropped), kept(p.Stats.RxErrors), node)
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
