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
	Node  string
	Hops  []string // routers that packets come to, in their order
	Fault string   // why they do not come to the egress node, "" if they do
	// Notes say what is not sure: routers that do not show their tables, and other ways of the same cost.
	Notes []string
}

// result is it in words.
func (x *traced) result() string {
	text := "success"
	if x.Fault != "" {
		text = "failed! " + x.Fault
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

// shownTables are the tables of a router, or why there are none.
type shownTables struct {
	tables []bier.Table
	reason string
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
		next, note, err := x.next(ctx, at, way)
		if note != "" {
			out.Notes = append(out.Notes, note)
		}
		switch {
		case err != nil:
			out.Fault = err.Error()
		case next == x.channel.IngressNode || slices.Contains(out.Hops, next):
			out.Fault = fmt.Sprintf("packets come to %s again and again", next)
		case len(out.Hops) == hops:
			out.Fault = fmt.Sprintf("it is not reached within %d hops", hops)
		}
		if out.Fault != "" {
			return out
		}
		out.Hops = append(out.Hops, next)
		at = next
	}
	return out
}

// next is the router to which another sends packets to an egress node: by the table that it shows, else the computed
// one.
func (x *tracer) next(ctx context.Context, node string, w *bier.Way) (hop, note string, _ error) {
	list, note := x.nextShown(ctx, node, w)
	if note != "" {
		graph := x.topology.Graph(x.channel.DomainID, x.channel.SubDomainID)
		list = graph.Tree(node, x.plan.BSL).Next(w.Node)
	}
	if len(list) == 0 {
		return "", note, fmt.Errorf(
			"router %s has no way to BFR-id %d (%s)",
			node,
			w.ID,
			w.Node,
		)
	}
	if note == "" && len(list) > 1 {
		note = fmt.Sprintf("router %s may choose %s, too", node, strings.Join(list[1:], " or "))
	}
	return list[0], note, nil
}

// nextShown are the next routers by the table that a router shows; note is why that is not known.
func (x *tracer) nextShown(ctx context.Context, node string, w *bier.Way) (list []string, note string) {
	shown, ok := x.shown[node]
	if !ok {
		shown = x.read(ctx, node)
		x.shown[node] = shown
	}
	if shown.reason != "" {
		return nil, fmt.Sprintf("the next hop of router %s is computed: %s", node, shown.reason)
	}
	for i := range shown.tables {
		t := &shown.tables[i]
		if t.SubDomain != x.channel.SubDomainID ||
			bier.BSL(t.BSL) != x.plan.BSL ||
			t.SI != x.plan.BSL.SI(w.ID) {
			continue
		}
		if list, ok = t.Next(w.ID); !ok {
			return nil, fmt.Sprintf(
				"the next hop of router %s is computed: it names a neighbour that the topology does not have",
				node,
			)
		}
	}
	return list, ""
}

// read reads the tables of a router.
func (x *tracer) read(ctx context.Context, node string) shownTables {
	if x.data.status.Lacks(x.now, node, bierdriver.ForwardingAbility) {
		return shownTables{reason: "it does not show its forwarding table"}
	}
	read, err := x.forwarding(ctx, x.now, node)
	if err != nil {
		return shownTables{reason: err.Error()}
	}
	list, ok := shownAs(node, x.computeTables(x.now, node), read)
	if !ok {
		return shownTables{reason: "it does not say of which sub-domains its forwarding tables are"}
	}
	return shownTables{tables: list}
}

// shownAs are the tables that a router shows in the form of a Reading; false: of which sub-domain they are is not
// known.
func shownAs(node string, computed []tables, read []*bierdriver.Forwarding) (out []bier.Table, ok bool) {
	out = []bier.Table{}
	for _, f := range read {
		if !f.HasSubDomain && len(computed) > 1 {
			return nil, false
		}
		for _, c := range computed {
			if f.HasSubDomain && f.SubDomainId != uint32(c.sub) {
				continue
			}
			out = append(out, bier.Shown(c.sub, c.tables, f, func(name string) string {
				return c.nodeByPrefix(node, name)
			}))
		}
	}
	return out, true
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
	failed := 0
	for i := range list {
		x := &list[i]
		way := append([]string{c.IngressNode}, x.Hops...)
		table.Add(x.Node, commands.List(" ", way), x.result())
		if x.Fault != "" {
			failed++
		}
	}
	if err := in.Emit(table, nil); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("packets do not come to %d of %d egress nodes", failed, len(list))
	}
	return nil
}
