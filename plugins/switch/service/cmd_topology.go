package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/operations"
)

func (s *Service) cmdTopoDiscover(
	name string,
	scope discovery.Scope,
	summary, help string,
) commands.Command {
	return commands.Command{
		Name:    name,
		Summary: summary,
		Help:    help,
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return s.runDiscover(ctx, in, scope)
		},
	}
}

func (s *Service) runDiscover(
	ctx context.Context,
	in *commands.Invocation,
	scope discovery.Scope,
) error {
	if len(s.inventory.All()) == 0 {
		return fault.New(fault.NotFound, "the switch list is empty; load one with switch:ReadDB")
	}
	progress := func(p commands.Progress) {
		if in.Terminal != nil {
			in.Progress(p)
		}
	}
	defer progress(commands.Progress{})
	began := time.Now()
	if !s.writer.Holds() {
		progress(commands.Progress{Text: "asking switches by the node that holds them"})
	}
	for {
		sum, err := s.runDiscovery(ctx, scope, func(done, total int) {
			progress(commands.Progress{
				Text:  "asking switches",
				Done:  int64(done),
				Total: int64(total),
			})
		})
		switch {
		case err == nil:
			sum.Took = time.Since(began) // with what it waited for, and until all was written
			sum.Seconds = sum.Took.Seconds()
			return in.Emit(sum, func() string { return summaryText(sum) })
		case fault.KindOf(err) != fault.InUse:
			return err
		}
		// One that began by itself, after switch:ReadDB perhaps, is not in the user's way.
		progress(commands.Progress{Text: "waiting for the discovery under way"})
		if err := s.survey.Idle(ctx); err != nil {
			return err
		}
		if host.Pause(ctx, again); ctx.Err() != nil { // the discovery of another node is asked for again
			return err
		}
	}
}

// again is the time between two tries to begin a discovery.
const again = 100 * time.Millisecond

// maxFailures is how many silent switches the text shows; JSON has all.
const maxFailures = 20

func summaryText(s discovery.Summary) string {
	var b strings.Builder
	for i, f := range s.Failures {
		if i == maxFailures {
			fmt.Fprintf(&b, "… and %d more\n", len(s.Failures)-i)
			break
		}
		fmt.Fprintf(&b, "%s\n", f.Error)
	}
	fmt.Fprintf(&b, "%s\n", s)
	return b.String()
}

// cmdEdges shows each cable once: of the two directions the one whose tail is smaller.
func (s *Service) cmdEdges() commands.Command {
	return commands.Command{
		Name:    "switch:edges",
		Summary: "Show the edges found by the last discovery",
		Safe:    true,
		Help: "One line a cable. Confirmed: both ends reported it. Source: what reported it; stp and fdb are inferred, for\n" +
			"switches without LLDP and CDP, and less sure. A PR node is a device outside the switch list.\n" +
			"Shows what is known; switch:TopoDiscover asks the switches again.",
		Run: func(ctx context.Context, in *commands.Invocation) error {
			r, err := s.edgeLines(ctx, operations.None{})
			if err != nil {
				return err
			}
			return in.Emit(r.Entries, nil)
		},
	}
}

func (s *Service) edgeLines(ctx context.Context, _ operations.None) (*rows, error) {
	n, err := s.survey.Await(ctx)
	if err != nil {
		return nil, err
	}
	names := n.Names()
	t := commands.Table{
		Empty: "No edges",
		Columns: []commands.Column{
			{
				Title: "Node",
				Key:   "node",
			}, {
				Title: "Name",
				Key:   "name",
				Max:   24,
			}, {Title: "Port", Key: "port", Right: true},
			{
				Title: "Peer",
				Key:   "peer",
			}, {
				Title: "Name",
				Key:   "peer-name",
				Max:   24,
			}, {Title: "Port", Key: "peer-port", Right: true},
			{
				Title: "Confirmed",
				Key:   "confirmed",
			}, {Title: "Source", Key: "source"},
			{Title: "Age", Key: "age-seconds", Right: true}},
	}
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
	return &rows{t}, nil
}
