package shell

import (
	"context"
	"time"

	"ctl.internal/sdk/commands"
)

func (s *Shell) history() commands.Command {
	return commands.Command{
		Name: "switch:history", Summary: "Show the last changes of the topology", Safe: true,
		Help: "One line a change, the newest first: nodes and cables that came or went, switches that fell silent or answer\n" +
			"again, and what made the switches be read: a command, the interval, a new list, or a trap. The last 1000 are\n" +
			"kept, on whichever node they were noticed.\n\n" +
			"Example: switch:history --last 0 | grep removed",
		Options: []commands.Option{lastOption()},
		Run:     s.runHistory,
	}
}

func (s *Shell) runHistory(_ context.Context, in *commands.Invocation) error {
	most, err := last(in)
	if err != nil {
		return err
	}
	t := commands.Table{Empty: "Nothing has changed yet.", Columns: []commands.Column{{Title: "Time", Key: "time"}, {Title: "Change", Key: "change"},
		{Title: "Node", Key: "node"}, {Title: "Port", Key: "port"}, {Title: "Peer", Key: "peer"}, {Title: "Port", Key: "peer-port"},
		{Title: "Source", Key: "source"}, {Title: "Cause", Key: "cause"}}}
	for i, c := range s.History() {
		if most > 0 && i == most {
			break
		}
		var at any = c.At.Format(time.DateTime)
		if in.Format == "json" {
			at = c.At
		}
		t.Add(at, string(c.Kind), c.Node, c.Port, c.Peer, c.PeerPort, c.Source, c.Cause)
	}
	return in.Emit(t, nil)
}
