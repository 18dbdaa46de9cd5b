package service

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Commands describes the console's commands of channels.
func Commands() []commands.Command {
	return (&Service{}).commandTable()
}

// commandTable is the table of commands; those of the zero Service describe themselves only.
func (s *Service) commandTable() []commands.Command {
	channel := commands.Argument{
		Name:     "channel",
		Help:     "its name",
		Required: true,
		Complete: s.completeChannelNames,
	}
	topology := commands.Option{
		Name:     "topology",
		Short:    "t",
		Complete: s.completeTopologyIDs,
		Help:     "topology-id; when absent, the one that has the channel, else the default one",
	}
	return []commands.Command{
		{
			Name:    "bier:channel-list",
			Summary: "List the channels",
			Safe:    true,
			Run:     s.listChannels,
			Help:    "Shows the channels of all topologies, or of one.",
			Options: []commands.Option{topology},
		},
		{
			Name:      "bier:channel-show",
			Summary:   "Show a channel, its bit strings and its routers",
			Safe:      true,
			Run:       s.showChannel,
			Help:      "Shows the flow, the copies that leave the ingress with their bit strings, and which routers hold it already.",
			Arguments: []commands.Argument{channel},
			Options:   []commands.Option{topology},
		},
		{
			Name:    "bier:channel-deploy",
			Summary: "Deploy a channel, or change its routers",
			Run:     s.deployChannel,
			Help: "Configures the ingress and egress routers; those not named any more lose the channel. Ports with receivers\n" +
				"follow the node-id of an egress node after @, the port of the source that of the ingress.\n\n" +
				"Examples: bier:channel-deploy tv 1 2 3, bier:channel-deploy tv r1@eth1 r2@eth3,eth4 r3",
			Arguments: []commands.Argument{channel, {
				Name:     "ingress",
				Help:     "node-id of the BFIR",
				Required: true,
				Complete: s.completeNodeIDs,
			},
				{
					Name:     "egress",
					Help:     "node-ids of the BFERs",
					Required: true,
					Repeated: true,
					Complete: s.completeNodeIDs,
				}},
			Options: []commands.Option{topology, {
				Name: "check",
				Type: commands.Bool,
				Help: "only show the ways and what to be warned of; nothing is changed",
			}},
		},
		{
			Name:    "bier:port-show",
			Summary: "Show which channels use a port",
			Safe:    true,
			Run:     s.showPort,
			Help: "Shows the deployed channels whose packets may pass the link at a port, or whose source or receivers are there,\n" +
				"and the egress nodes that no packets reach without the port.\n\nExample: bier:port-show r1 ethernet1",
			Arguments: []commands.Argument{
				{
					Name:     "node",
					Help:     "node-id",
					Required: true,
					Complete: s.completeNodeIDs,
				},
				{
					Name:     "port",
					Help:     "port, as the topology or the channel names it",
					Required: true,
				},
			},
			Options: []commands.Option{{
				Name:     "topology",
				Short:    "t",
				Complete: s.completeTopologyIDs,
				Help:     "topology-id; all when absent",
			}},
		},
		{
			Name:      "bier:channel-remove",
			Summary:   "Remove a channel, from its routers too",
			Run:       s.removeChannel,
			Help:      "Removes the channel. Routers that cannot be reached now lose it when they return.",
			Arguments: []commands.Argument{channel},
			Options:   []commands.Option{topology},
		},
	}
}

// completeChannelNames completes names of channels.
func (s *Service) completeChannelNames(_ context.Context, prefix string) []string {
	return bierplugin.Complete(func(yield func(string) bool) {
		for _, c := range s.Channels.All(s.Now()) {
			if !yield(c.Name) {
				return
			}
		}
	}, prefix)
}

// completeTopologyIDs completes ids of topologies with channels.
func (s *Service) completeTopologyIDs(_ context.Context, prefix string) []string {
	return bierplugin.Complete(slices.Values(s.ChannelTopologies(s.Now())), prefix)
}

// completeNodeIDs completes node-ids.
func (s *Service) completeNodeIDs(_ context.Context, prefix string) []string {
	return bierplugin.Complete(s.NodeIDs(s.Now()), prefix)
}

// topologyOf is that of the option; without one, that which has the channel.
func (s *Service) topologyOf(in *commands.Invocation) (string, error) {
	if t := in.Option("topology"); t != "" {
		return t, nil
	}
	var have []string
	now := s.Now()
	for _, t := range s.ChannelTopologies(now) {
		if s.Get(now, t, in.Arg("channel")) != nil {
			have = append(have, t)
		}
	}
	switch len(have) {
	case 0:
		return "", nil
	case 1:
		return have[0], nil
	}
	return "", fault.New(fault.Invalid, "topologies %s have a channel %s each: say which with --topology",
		strings.Join(have, " and "), in.Arg("channel"))
}

func (s *Service) deployChannel(ctx context.Context, in *commands.Invocation) error {
	topology, err := s.topologyOf(in)
	if err != nil {
		return err
	}
	if topology == "" {
		return fault.New(
			fault.NotFound,
			"there is no channel %s; add-channel creates it",
			in.Arg("channel"),
		)
	}
	d := channels.Deployment{
		Topology: topology,
		Name:     in.Arg("channel"),
	}
	d.Ingress, d.SrcTP, _ = strings.Cut(in.Arg("ingress"), "@")
	for _, e := range in.Args["egress"] {
		node, ports, _ := strings.Cut(e, "@")
		n := bier.EgressNode{ID: node}
		for port := range strings.FieldsFuncSeq(ports, func(r rune) bool {
			return r == ','
		}) {
			n.Receivers = append(n.Receivers, bier.Receiver{TP: port})
		}
		d.Egress = append(d.Egress, n)
	}
	if in.Flag("check") {
		return s.showTry(ctx, in, d)
	}
	out, err := s.applyDeployment(ctx, d)
	return showChangeResult(in, out, err)
}

func (s *Service) removeChannel(ctx context.Context, in *commands.Invocation) error {
	topology, err := s.topologyOf(in)
	if err != nil {
		return err
	}
	out, err := s.deleteChannel(ctx, removeIn{
		Topology: topology,
		Name:     in.Arg("channel"),
	})
	return showChangeResult(in, out, err)
}

// showChangeResult shows what deploying or removing came to; a FAILURE is the command's error.
func showChangeResult(in *commands.Invocation, out output, err error) error {
	if err != nil {
		return err
	}
	if out.Result.Result != "SUCCESS" {
		return fmt.Errorf("%s", *out.Result.Cause)
	}
	t := &commands.Table{
		Empty: "No router is concerned.",
		Columns: []commands.Column{{
			Title: "Node",
			Key:   "node-id",
		},
			{
				Title: "Role",
				Key:   "role",
			}, {
				Title: "State",
				Key:   "state",
			}, {Title: "Reason", Key: "reason"}},
	}
	for _, d := range out.Deployment {
		t.Add(d.Node, d.Role, d.State, d.Reason)
	}
	for _, text := range out.Warnings {
		fmt.Fprintln(in.Stderr, "warning:", text)
	}
	return in.Emit(t, nil)
}

// showTry shows what deploying would come to.
func (s *Service) showTry(
	ctx context.Context,
	in *commands.Invocation,
	d channels.Deployment,
) error {
	plan, warnings, err := s.planDeployment(ctx, d)
	if err != nil {
		return err
	}
	t := &commands.Table{Columns: []commands.Column{{
		Title: "Egress",
		Key:   "node-id",
	}, {Title: "BFR-id", Key: "bfr-id", Right: true},
		{
			Title: "Way",
			Key:   "path",
		}, {Title: "Warning", Key: "warning"}}}
	for i, w := range plan.Egress {
		t.Add(w.Node, w.ID, commands.List(" ", w.Path), strings.Join(warnings[i], "; "))
	}
	return in.Emit(t, nil)
}

func (s *Service) listChannels(_ context.Context, in *commands.Invocation) error {
	t := &commands.Table{
		Empty: "There are no channels; the RPC bier-channel-api:add-channel makes them.",
		Columns: []commands.Column{
			{
				Title: "Topology",
				Key:   "topology-id",
			}, {
				Title: "Channel",
				Key:   "name",
			}, {Title: "Source", Key: "source"},
			{
				Title: "Group",
				Key:   "group",
			}, {Title: "Domain", Key: "domain-id", Right: true},
			{
				Title: "Sub-domain",
				Key:   "sub-domain-id",
				Right: true,
			}, {Title: "Ingress", Key: "ingress-node"},
			{Title: "Egress", Key: "egress-node", Max: 60}},
	}
	now := s.Now()
	topologies := s.ChannelTopologies(now)
	if one := in.Option("topology"); one != "" {
		topologies = []string{one}
	}
	for _, id := range topologies {
		for _, c := range s.ChannelsOf(now, id) {
			egress := []string{}
			for _, e := range c.EgressNodes {
				egress = append(egress, e.ID)
			}
			t.Add(id, c.Name, fmt.Sprintf("%s/%d", c.SrcIP, c.SourceWildcard), fmt.Sprintf("%s/%d", c.DstGroup, c.GroupWildcard),
				c.DomainID, c.SubDomainID, c.IngressNode, egress)
		}
	}
	return in.Emit(t, nil)
}

func (s *Service) showChannel(ctx context.Context, in *commands.Invocation) error {
	topology, err := s.topologyOf(in)
	if err != nil {
		return err
	}
	out, err := s.queryChannels(
		ctx,
		queryIn{
			Topology: topology,
			Names:    []string{in.Arg("channel")},
		},
	)
	if err != nil {
		return err
	}
	if len(out.Channels) == 0 {
		return fault.New(fault.NotFound, "there is no channel %s", in.Arg("channel"))
	}
	return in.Emit(out.Channels[0], func() string {
		return formatChannel(&out.Channels[0])
	})
}

func formatChannel(c *described) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Channel     %s\nFlow        %s/%d to %s/%d\nSub-domain  %d of domain %d\n", c.Name,
		c.SrcIP, c.SourceWildcard, c.DstGroup, c.GroupWildcard, c.SubDomainID, c.DomainID)
	if !c.Deployed() {
		b.WriteString("Not deployed.\n")
		return b.String()
	}
	fmt.Fprintf(&b, "Copies      %d\n", c.Copies)
	for _, s := range c.BitStrings {
		fmt.Fprintf(&b, "  SI %d, %d bits: %s\n", s.SI, s.BSL, s.Bits)
	}
	fmt.Fprintf(
		&b,
		"State       %s\nEgress      %s\nProved      %s\n",
		c.State,
		bier.Counted(c.Egress),
		bier.DescribeProof(c.Proved, c.ProvedBy),
	)
	for _, said := range c.Silent {
		fmt.Fprintf(&b, "Silent      %s\n", said)
	}
	b.WriteString("Routers\n")
	for _, d := range c.Deployment {
		fmt.Fprintf(&b, "  %-8s %s: %s", d.Role, d.Node, d.State)
		if !d.Confirmed.IsZero() {
			fmt.Fprintf(&b, ", confirmed %s", d.Confirmed.Format(time.DateTime))
		}
		if !d.Proved.IsZero() {
			fmt.Fprintf(&b, ", proved %s", bier.DescribeProof(d.Proved, d.ProvedBy))
		}
		if len(d.Path) > 0 {
			fmt.Fprintf(&b, ", way %s", strings.Join(d.Path, " "))
		}
		if !d.Counted.IsZero() {
			fmt.Fprintf(&b, ", %d packets at %s", d.Packets, d.Counted.Format(time.DateTime))
		}
		if d.Session != "" {
			fmt.Fprintf(
				&b,
				", session %s since %s",
				d.Session,
				d.SessionSince.Format(time.DateTime),
			)
		}
		if d.Reason != "" {
			fmt.Fprintf(&b, " (%s)", d.Reason)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
