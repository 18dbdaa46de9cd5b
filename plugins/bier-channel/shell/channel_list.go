package shell

import (
	"context"
	"fmt"

	"ctl.internal/sdk/commands"
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
