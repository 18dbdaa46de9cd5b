package service

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
)

// traced is the way of packets to an egress node.
type traced struct {
	Node    string
	Hops    []string // routers that packets come to, in their order
	Fault   string   // why they do not come to the egress node, "" if nothing says so
	Unknown string   // why the rest of the way is not known, "" if it is
	// Notes say what is not sure: routers whose tables cannot be read, and other ways of the same cost.
	Notes []string
}

// result is it in words.
func (x *traced) result() string {
	text := "success"
	switch {
	case x.Fault != "":
		text = "failed! " + x.Fault
	case x.Unknown != "":
		text = unknown + ": " + x.Unknown
	}
	return strings.Join(append([]string{text}, x.Notes...), "; ")
}

// tracer follows packets of a channel by the tables that routers show now.
type tracer struct {
	*Service
	now      *state.Snapshot
	topology *bier.Topology
	channel  *bier.Channel
	plan     *bier.Plan
	shown    map[string]shownTables // by node-id
}

// shownTables are the tables of a router for the sub-domain of the channel, or why there are none.
type shownTables struct {
	tables   []bier.Table
	computed string // why the computed next hop counts in their place
	unknown  string // why they are not known
}

// traceChannel follows the packets of a channel to egress nodes of it, over no more than some hops.
func (s *Service) traceChannel(
	ctx context.Context,
	now *state.Snapshot,
	t *bier.Topology,
	c *bier.Channel,
	targets []string,
	hops int,
) ([]traced, error) {
	plan, err := bier.PlanChannel(t, c)
	if err != nil {
		return nil, fault.New(fault.Invalid, "channel %s cannot be traced: %v", c.Name, err)
	}
	x := &tracer{
		Service:  s,
		now:      now,
		topology: t,
		channel:  c,
		plan:     plan,
		shown:    map[string]shownTables{},
	}
	var out []traced
	for _, node := range targets {
		out = append(out, x.trace(ctx, node, hops))
	}
	return out, nil
}

// trace follows packets to one egress node.
func (x *tracer) trace(ctx context.Context, target string, hops int) traced {
	out := traced{Node: target}
	i := slices.IndexFunc(x.plan.Egress, func(w bier.Way) bool {
		return w.Node == target
	})
	if i < 0 {
		out.Fault = fmt.Sprintf("%s is no egress node of the channel", target)
		return out
	}
	way := &x.plan.Egress[i]
	if way.Err != nil {
		out.Fault = way.Err.Error()
		return out
	}
	at := x.channel.IngressNode
	for at != target {
		list, note, unknown := x.next(ctx, at, way)
		if unknown != "" {
			out.Unknown = fmt.Sprintf("the next hop of router %s is not known: %s", at, unknown)
			return out
		}
		if note != "" {
			out.Notes = append(out.Notes, note)
		}
		switch {
		case len(list) == 0:
			out.Fault = fmt.Sprintf("router %s has no way to BFR-id %d (%s)", at, way.ID, target)
		case list[0] == x.channel.IngressNode || slices.Contains(out.Hops, list[0]):
			out.Fault = fmt.Sprintf("packets come to %s again and again", list[0])
		case len(out.Hops) == hops:
			out.Fault = fmt.Sprintf("it is not reached within %d hops", hops)
		}
		if out.Fault != "" {
			return out
		}
		out.Hops = append(out.Hops, list[0])
		at = list[0]
	}
	return out
}

// next are the routers to which another may send packets to an egress node: by the table that it shows; the computed
// ones where its table cannot be read at all, which a note says. unknown is why they are not known.
func (x *tracer) next(
	ctx context.Context,
	node string,
	w *bier.Way,
) (list []string, note, unknown string) {
	shown, ok := x.shown[node]
	if !ok {
		shown = x.read(ctx, node)
		x.shown[node] = shown
	}
	switch {
	case shown.unknown != "":
		return nil, "", shown.unknown
	case shown.computed != "":
		graph := x.topology.Graph(x.channel.DomainID, x.channel.SubDomainID)
		note = fmt.Sprintf("the next hop of router %s is computed: %s", node, shown.computed)
		return graph.Tree(node, x.plan.BSL).Next(w.Node), note, ""
	}
	i := slices.IndexFunc(shown.tables, func(t bier.Table) bool {
		return bier.BSL(t.BSL) == x.plan.BSL && t.SI == x.plan.BSL.SI(w.ID)
	})
	if i < 0 {
		return nil, "", ""
	}
	if list, ok = shown.tables[i].Next(w.ID); !ok {
		return nil, "", "its table names a neighbour that the topology does not have"
	}
	if len(list) > 1 {
		note = fmt.Sprintf("router %s may choose %s, too", node, strings.Join(list[1:], " or "))
	}
	return list, note, ""
}

// read reads the tables of a router.
func (x *tracer) read(ctx context.Context, node string) shownTables {
	if x.data.status.Lacks(x.now, node, bierdriver.ForwardingAbility) {
		return shownTables{computed: "it does not show its forwarding table"}
	}
	read, err := x.forwarding(ctx, x.now, node)
	if err != nil {
		return notShown(err, ctx.Err() != nil)
	}
	all := x.computeTables(x.now, node)
	if !tellsSubDomains(all, read) {
		return shownTables{unknown: "it does not say of which sub-domains its forwarding tables are"}
	}
	own := slices.DeleteFunc(all, func(c tables) bool {
		return c.topology.ID != x.topology.ID ||
			c.domain != x.channel.DomainID ||
			c.sub != x.channel.SubDomainID
	})
	return shownTables{tables: shownAs(node, own, read)}
}

// notShown are the tables that could not be read; ended is whether the time of the trace is over.
func notShown(err error, ended bool) shownTables {
	switch {
	case fault.KindOf(err) == fault.Unsupported:
		return shownTables{computed: err.Error()}
	case ended:
		return shownTables{unknown: "the time of the trace was over before its forwarding table was read"}
	}
	return shownTables{unknown: err.Error()}
}

// tellsSubDomains reports whether it is known of which sub-domain the tables are that a router shows.
func tellsSubDomains(computed []tables, read []*bierdriver.Forwarding) bool {
	return len(computed) <= 1 || !slices.ContainsFunc(read, func(f *bierdriver.Forwarding) bool {
		return !f.HasSubDomain
	})
}

// shownAs are the tables that a router shows in the form of a Reading, if tellsSubDomains.
func shownAs(node string, computed []tables, read []*bierdriver.Forwarding) []bier.Table {
	out := []bier.Table{}
	for _, f := range read {
		for _, c := range computed {
			if f.HasSubDomain && f.SubDomainId != uint32(c.sub) {
				continue
			}
			out = append(out, bier.Shown(c.sub, c.tables, f, func(name string) string {
				return c.nodeByPrefix(node, name)
			}))
		}
	}
	return out
}

// egressIDs are the node-ids of the egress nodes of a channel.
func egressIDs(c *bier.Channel) (out []string) {
	for _, e := range c.EgressNodes {
		out = append(out, e.ID)
	}
	return out
}

// showTraced is the command bier:trace.
func (s *Service) showTraced(ctx context.Context, in *commands.Invocation) error {
	now, err := s.data.store.Fresh(ctx)
	if err != nil {
		return err
	}
	t, c, err := s.findChannel(now, in.Option("topology"), in.Arg("channel"))
	if err != nil {
		return err
	}
	targets := shortIDs(in.Args["egress"])
	if len(targets) == 0 {
		targets = egressIDs(c)
	}
	ctx, cancel := context.WithTimeout(ctx, pinging)
	defer cancel()
	list, err := s.traceChannel(ctx, now, t, c, targets, maxHops)
	if err != nil {
		return err
	}
	table := &commands.Table{Columns: []commands.Column{
		{Title: "Egress", Key: "node-id"},
		{Title: "Way", Key: "way", Max: 80},
		{Title: "Result", Key: "result"},
	}}
	failed, open := 0, 0
	for i := range list {
		x := &list[i]
		way := append([]string{c.IngressNode}, x.Hops...)
		table.Add(x.Node, commands.List(" ", way), x.result())
		switch {
		case x.Fault != "":
			failed++
		case x.Unknown != "":
			open++
		}
	}
	if err := in.Emit(table, nil); err != nil {
		return err
	}
	switch {
	case failed > 0:
		return fmt.Errorf("packets do not come to %d of %d egress nodes", failed, len(list))
	case open > 0:
		return fmt.Errorf("the way to %d of %d egress nodes is not known", open, len(list))
	}
	return nil
}
