package shell

import (
	"context"
	"fmt"
	"strings"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-channel/operations"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

func (s *Shell) channelList() commands.Command {
	return commands.Command{Name: "bier:channel-list", Summary: "List the channels", Safe: true,
		Help: "Shows the channels of all topologies, or of one.", Options: []commands.Option{s.topologyOption()}, Run: s.runChannelList}
}

func (s *Shell) runChannelList(_ context.Context, in *commands.Invocation) error {
	t := &commands.Table{Empty: "There are no channels; the RPC bier-channel-api:add-channel makes them.", Columns: []commands.Column{
		{Title: "Topology", Key: "topology-id"}, {Title: "Channel", Key: "name"}, {Title: "Source", Key: "source"}, {Title: "Group", Key: "group"},
		{Title: "Domain", Key: "domain-id", Right: true}, {Title: "Sub-domain", Key: "sub-domain-id", Right: true},
		{Title: "Ingress", Key: "ingress-node"}, {Title: "Egress", Key: "egress-node", Max: 60}}}
	now := s.Store.Now()
	topologies := s.Store.ChannelTopologies(now)
	if one := in.Option("topology"); one != "" {
		topologies = []string{one}
	}
	for _, id := range topologies {
		for _, c := range s.Store.ChannelsOf(now, id) {
			ingress, egress := carriers(&c)
			t.Add(id, c.Name, fmt.Sprintf("%s/%d", c.SrcIP, c.SourceWildcard), fmt.Sprintf("%s/%d", c.DstGroup, c.GroupWildcard),
				c.DomainID, c.SubDomainID, ingress, egress)
		}
	}
	return in.Emit(t, nil)
}

func (s *Shell) channelShow() commands.Command {
	return commands.Command{Name: "bier:channel-show", Summary: "Show a channel, its bit strings and its routers", Safe: true,
		Help:      "Shows the flow, the copies that leave the ingress with their bit strings, and which routers hold it already.",
		Arguments: []commands.Argument{s.channelArgument()}, Options: []commands.Option{s.topologyOption()}, Run: s.runChannelShow}
}

func (s *Shell) runChannelShow(ctx context.Context, in *commands.Invocation) error {
	topology, err := s.topology(in)
	if err != nil {
		return err
	}
	out, err := s.Query(ctx, operations.QueryIn{Topology: topology, Names: []string{in.Arg("channel")}})
	if err != nil {
		return err
	}
	if len(out.Channels) == 0 {
		return fault.New(fault.NotFound, "there is no channel %s", in.Arg("channel"))
	}
	return in.Emit(out.Channels[0], func() string { return text(&out.Channels[0]) })
}

func text(c *operations.Described) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Channel     %s\nFlow        %s/%d to %s/%d\nSub-domain  %d of domain %d\n", c.Name, c.SrcIP, c.SourceWildcard, c.DstGroup, c.GroupWildcard, c.SubDomainID, c.DomainID)
	if !c.Deployed() {
		b.WriteString("Not deployed.\n")
		return b.String()
	}
	fmt.Fprintf(&b, "Copies      %d\n", c.Copies)
	for _, s := range c.BitStrings {
		fmt.Fprintf(&b, "  SI %d, %d bits: %s\n", s.SI, s.BSL, s.Bits)
	}
	fmt.Fprintf(&b, "State       %s\nEgress      %s\nRouters\n", c.State.State, bier.Counted(c.Egress))
	for _, d := range c.Deployment {
		fmt.Fprintf(&b, "  %-8s %s: %s", d.Role, d.Node, d.State)
		if !d.Confirmed.IsZero() {
			fmt.Fprintf(&b, ", confirmed %s", d.Confirmed.Format("2006-01-02 15:04:05"))
		}
		if d.Session != "" {
			fmt.Fprintf(&b, ", session %s since %s", d.Session, d.SessionSince.Format("2006-01-02 15:04:05"))
		}
		if d.Reason != "" {
			fmt.Fprintf(&b, " (%s)", d.Reason)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
