package bier

import (
	"context"
	"maps"
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
		Changes  *Changes  `json:"changes,omitempty"`
	}
	// Channels is the anydata in it: channels by topology-id.
	Channels struct {
		ByTopology map[string][]Channel `json:"by-topology"`
	}
	// Changes are what became of channels since a revision.
	Changes struct {
		ByTopology map[string][]Channel `json:"by-topology,omitempty"`
		Removed    map[string][]string  `json:"removed,omitempty"` // names by topology-id
	}
)

// Own returns a context in which RPCs are called as the plugin, not for the user
// whom it serves: what the BIER plugins tell each other is no user's affair.
func Own(ctx context.Context) context.Context { return caller.With(ctx, caller.Caller{}) }

// ReadTopologies asks the topology manager for topologies; id "" asks for all. The
// answer has no Topologies when have is the newest revision.
func ReadTopologies(ctx context.Context, o *host.Operations, id string, have uint64) (TopologyView, error) {
	return readTopologies(ctx, o, id, have, false)
}

// ReadSettledTopologies is ReadTopologies behind the changes that are decided when it
// is asked: whoever stored something before it, and is not seen by a change, sees the
// change.
func ReadSettledTopologies(ctx context.Context, o *host.Operations, id string, have uint64) (TopologyView, error) {
	return readTopologies(ctx, o, id, have, true)
}

func readTopologies(ctx context.Context, o *host.Operations, id string, have uint64, settled bool) (TopologyView, error) {
	in := map[string]any{"revision": have, "settled": settled}
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

// ReadChannels asks the plugin of channels for all of them, or, when some are there
// already, for what changed since; the result has no Channels when nothing did. A
// fault.NotFound when the plugin is not installed. have is not changed.
func ReadChannels(ctx context.Context, o *host.Operations, have ChannelView) (ChannelView, error) {
	var out ChannelView
	err := o.Call(Own(ctx), "bier-channel-view", "read", map[string]any{"revision": have.Revision, "changes": have.Channels != nil}, &out)
	if err == nil && out.Changes != nil {
		out.Channels, out.Changes = have.Channels.with(out.Changes), nil
	}
	return out, err
}

// with returns the channels after changes.
func (c *Channels) with(x *Changes) *Channels {
	out := &Channels{ByTopology: maps.Clone(c.ByTopology)}
	for t := range keysOf(x.ByTopology, x.Removed) {
		gone := map[string]bool{}
		for _, name := range x.Removed[t] {
			gone[name] = true
		}
		for i := range x.ByTopology[t] {
			gone[x.ByTopology[t][i].Name] = true
		}
		list := make([]Channel, 0, len(c.ByTopology[t])+len(x.ByTopology[t]))
		for i := range c.ByTopology[t] {
			if !gone[c.ByTopology[t][i].Name] {
				list = append(list, c.ByTopology[t][i])
			}
		}
		out.ByTopology[t] = append(list, x.ByTopology[t]...)
		slices.SortFunc(out.ByTopology[t], func(a, b Channel) int { return strings.Compare(a.Name, b.Name) })
	}
	return out
}

// keysOf is the keys of either map.
func keysOf[A, B any](a map[string]A, b map[string]B) map[string]bool {
	out := map[string]bool{}
	for k := range a {
		out[k] = true
	}
	for k := range b {
		out[k] = true
	}
	return out
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
