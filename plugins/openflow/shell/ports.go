package shell

import (
	"context"
	"net"

	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/plugins/openflow/ofp13"
	"ctl.internal/sdk/commands"
)

func (s *Shell) ports() commands.Command {
	return commands.Command{Name: "openflow:ports", Summary: "Show the ports of OpenFlow switches", Safe: true,
		Help: "Shows each port with its state, where its link leads, and the counters of the newest reading (setting\n" +
			"statistics). An empty counter is one that the switch does not keep, or has not sent yet.\n\nExample: openflow:ports openflow:1",
		Arguments: s.nodeArgument(), Run: s.runPorts}
}

func (s *Shell) runPorts(ctx context.Context, in *commands.Invocation) error {
	t := commands.Table{Empty: "No switch is connected.", Columns: []commands.Column{
		{Title: "Port", Key: "tp-id"}, {Title: "Name", Key: "name"}, {Title: "MAC", Key: "mac"}, {Title: "State", Key: "state"},
		{Title: "Link to", Key: "link-to"}, {Title: "Rx packets", Key: "rx-packets", Right: true}, {Title: "Tx packets", Key: "tx-packets", Right: true},
		{Title: "Rx bytes", Key: "rx-bytes", Right: true}, {Title: "Tx bytes", Key: "tx-bytes", Right: true},
		{Title: "Rx dropped", Key: "rx-dropped", Right: true}, {Title: "Rx errors", Key: "rx-errors", Right: true},
	}}
	var failed error
	err := s.Ask(ctx, func(c *discovery.Core) {
		var want func(uint64) bool
		if want, failed = s.wanted(c, in); failed != nil {
			return
		}
		for _, p := range c.Ports() {
			if want(p.ID.Datapath) {
				addPort(&t, p)
			}
		}
	})
	if err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	return in.Emit(t, nil)
}

func addPort(t *commands.Table, p discovery.Port) {
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
		kept(p.Stats.RxPackets), kept(p.Stats.TxPackets), kept(p.Stats.RxBytes), kept(p.Stats.TxBytes), kept(p.Stats.RxDropped), kept(p.Stats.RxErrors))
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
