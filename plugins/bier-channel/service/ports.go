package service

import (
	"context"
	"fmt"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// portIn is the input of the queries by port.
type portIn struct {
	Topology  string  `json:"topology-id"`
	Domain    *uint16 `json:"domain-id"`
	SubDomain *uint16 `json:"sub-domain-id"`
	Node      string  `json:"node-id"`
	TP        string  `json:"tp-id"`
}

// relatedChannel is a channel that uses a port.
type relatedChannel struct {
	Topology string   `json:"topology-id"`
	Channel  string   `json:"channel-name"`
	Ingress  string   `json:"bfir"`
	Use      string   `json:"use"`
	Egress   []string `json:"egress-node,omitempty"`
	CutOff   []string `json:"cut-off,omitempty"`
}

type throughPortOut struct {
	Channels []relatedChannel `json:"related-channel,omitempty"`
}

// queryThroughPort lists the channels that use a port in any way.
func (s *Service) queryThroughPort(_ context.Context, in portIn) (*throughPortOut, error) {
	list, err := s.usesOfPort(in)
	return &throughPortOut{list}, err
}

// channelAtPort is a channel with its source or receivers at a port.
type channelAtPort struct {
	Topology string `json:"topology-id"`
	Channel  string `json:"channel-name"`
	Ingress  string `json:"bfir"`
	Receiver bool   `json:"is-rcv-tp"`
}

type withPortOut struct {
	Channels []channelAtPort `json:"query-channel,omitempty"`
}

// queryWithPort lists the channels whose source or receivers are at a port.
func (s *Service) queryWithPort(_ context.Context, in portIn) (*withPortOut, error) {
	list, err := s.usesOfPort(in)
	if err != nil {
		return nil, err
	}
	out := &withPortOut{}
	for _, x := range list {
		if x.Use != bier.UseLink {
			out.Channels = append(
				out.Channels,
				channelAtPort{x.Topology, x.Channel, x.Ingress, x.Use == bier.UseReceiver},
			)
		}
	}
	return out, nil
}

// usesOfPort lists the uses of a port in one topology, or in all that have it.
func (s *Service) usesOfPort(in portIn) (out []relatedChannel, _ error) {
	now, node := s.Now(), bier.ShortID(in.Node)
	known := false
	for _, id := range s.IDs(now) {
		t := s.Topology(now, id)
		if in.Topology != "" && in.Topology != id || t == nil {
			continue
		}
		if !bier.HasPort(t, s.ChannelsIn(now, id), node, in.TP) {
			continue
		}
		known = true
		var list []bier.Channel
		for _, c := range s.ChannelsOf(now, id) {
			if (in.Domain == nil || *in.Domain == c.DomainID) &&
				(in.SubDomain == nil || *in.SubDomain == c.SubDomainID) {
				list = append(list, c)
			}
		}
		for _, u := range bier.UsesOfPort(t, list, node, in.TP) {
			out = append(out, relatedChannel{id, u.Channel, u.Ingress, u.Use, u.Egress, u.CutOff})
		}
	}
	if !known {
		return nil, fault.New(
			fault.NotFound,
			"no topology has a port %s of node %s, and no channel names it",
			in.TP,
			in.Node,
		)
	}
	return out, nil
}

// showPort shows what uses a port.
func (s *Service) showPort(_ context.Context, in *commands.Invocation) error {
	list, err := s.usesOfPort(portIn{
		Topology: in.Option("topology"),
		Node:     in.Arg("node"),
		TP:       in.Arg("port"),
	})
	if err != nil {
		return err
	}
	t := &commands.Table{
		Empty: fmt.Sprintf(
			"No deployed channel uses port %s of node %s.",
			in.Arg("port"),
			in.Arg("node"),
		),
		Columns: []commands.Column{
			{Title: "Topology", Key: "topology-id"},
			{Title: "Channel", Key: "channel-name"},
			{Title: "Ingress", Key: "bfir"},
			{Title: "Use", Key: "use"},
			{Title: "Egress", Key: "egress-node", Max: 60},
			{Title: "Cut off", Key: "cut-off", Max: 60},
		},
	}
	for _, x := range list {
		t.Add(
			x.Topology,
			x.Channel,
			x.Ingress,
			x.Use,
			commands.List(" ", x.Egress),
			commands.List(" ", x.CutOff),
		)
	}
	return in.Emit(t, nil)
}
