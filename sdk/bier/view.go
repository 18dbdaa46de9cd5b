package bier

import (
	"context"
	"slices"
	"strings"

	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/host"
)

// What the BIER plugins tell each other, as outputs of RPCs between them.
type (
	// TopologyView is the output of bier-topology-view:read.
	TopologyView struct {
		Revision   uint64      `json:"revision"`
		Topologies *Topologies `json:"topologies,omitempty"`
	}
	// Topologies is the anydata in it.
	Topologies struct {
		List []Topology `json:"topology"`
	}
	// ChannelView is the output of bier-channel-view:read.
	ChannelView struct {
		Revision uint64    `json:"revision"`
		Channels *Channels `json:"channels,omitempty"`
	}
	// Channels is the anydata in it: channels by topology-id.
	Channels struct {
		ByTopology map[string][]Channel `json:"by-topology"`
	}
)

// Own returns a context in which RPCs are called as the plugin, not for the user
// whom it serves: what the BIER plugins tell each other is no user's affair.
func Own(ctx context.Context) context.Context { return caller.With(ctx, caller.Caller{}) }

// ReadTopologies asks the topology manager for topologies; id "" asks for all. The
// answer has no Topologies when have is the newest revision.
func ReadTopologies(ctx context.Context, o *host.Operations, id string, have uint64) (TopologyView, error) {
	in := map[string]any{"revision": have}
	if id != "" {
		in["topology-id"] = id
	}
	var out TopologyView
	err := o.Call(Own(ctx), "bier-topology-view", "read", in, &out)
	if out.Topologies != nil {
		for i := range out.Topologies.List {
			out.Topologies.List[i].Sort()
		}
	}
	return out, err
}

// ReadChannels asks the plugin of channels for all of them; a fault.NotFound when
// it is not installed.
func ReadChannels(ctx context.Context, o *host.Operations, have uint64) (ChannelView, error) {
	var out ChannelView
	err := o.Call(Own(ctx), "bier-channel-view", "read", map[string]any{"revision": have}, &out)
	return out, err
}

// Uses says which deployed channel of a topology needs part of it, as
// Channel.Uses does.
func (c *Channels) Uses(topology, node string, domain uint16, sub int) string {
	if c == nil {
		return ""
	}
	list := slices.Clone(c.ByTopology[topology])
	slices.SortFunc(list, func(a, b Channel) int { return strings.Compare(a.Name, b.Name) })
	for i := range list {
		if why := list[i].Uses(node, domain, sub); why != "" {
			return why
		}
	}
	return ""
}
