package bier

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"ctl.internal/sdk/state"
)

// Trees are the configuration trees of the modules bier-topology and bier-channel, which
// are all that is configured of BIER, as a plugin follows them.
type Trees struct {
	Topologies *state.Tree[Topology] // their ids only
	Nodes      *state.Tree[Node]
	Links      *state.Tree[Link]
	Domains    *state.Tree[Domain]
	Channels   *state.Tree[Channel]

	mu      sync.Mutex
	members map[string]made // Members by topology-id
	whole   map[string]made // Topology by topology-id
}

// made is a topology made of trees as they were at these versions. To put thousands of
// nodes and links together for each of many decisions is what most of their time went into.
type made struct {
	of [4]any
	t  *Topology
}

// Paths of the trees, for manifests and messages.
const (
	TopologyTree = "/bier-topology:bier-network-topology"
	ChannelTree  = "/bier-channel:bier-network-channel"
)

// NewTrees returns the trees; changed, which may be nil, is called after each change and
// must not wait.
func NewTrees(changed func()) *Trees {
	const topology = TopologyTree + "/bier-topology=*"
	t := &Trees{
		Topologies: state.NewTree[Topology](topology).Bare(),
		Nodes:      state.NewTree[Node](topology + "/bier-node=*"),
		Links:      state.NewTree[Link](topology + "/bier-link=*"),
		Domains:    state.NewTree[Domain](topology + "/bier-domain=*"),
		Channels:   state.NewTree[Channel](ChannelTree + "/bier-channel=*/channel=*"),
	}
	if changed != nil {
		for _, notify := range []func(func([]string)){t.Topologies.Notify, t.Nodes.Notify, t.Links.Notify, t.Domains.Notify, t.Channels.Notify} {
			notify(func([]string) { changed() })
		}
	}
	return t
}

// Views are what state.Open takes.
func (t *Trees) Views() []state.View {
	return []state.View{t.Topologies, t.Nodes, t.Links, t.Domains, t.Channels}
}

// IDs lists the topologies, ascending.
func (t *Trees) IDs(r state.Reader) (out []string) {
	for _, x := range t.Topologies.All(r) {
		out = append(out, x.ID)
	}
	slices.Sort(out)
	return out
}

// Topology returns a complete topology, nil if it does not exist. Callers share it and
// must not change it or its lists; as long as nothing in it changes it is the same pointer.
// In a Tx the commit depends on all of it being unchanged.
func (t *Trees) Topology(r state.Reader, id string) *Topology {
	m := t.Members(r, id)
	if m == nil {
		return nil
	}
	links := t.Links.All(r, id)
	return t.cachedTopology(&t.whole, id, [4]any{m, t.Links.Version(r)}, func() *Topology {
		x := *m
		x.graphs = &graphs{all: map[[2]uint16]*Graph{}}
		x.Links = slices.SortedFunc(seqValues(links), func(a, b Link) int {
			return cmp.Compare(a.ID, b.ID)
		})
		return &x
	})
}

// Members is Topology without the links. It must not be changed either.
func (t *Trees) Members(r state.Reader, id string) *Topology {
	if _, ok := t.Topologies.Get(r, id); !ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.members, id)
		delete(t.whole, id)
		return nil
	}
	nodes, domains := t.Nodes.All(r, id), t.Domains.All(r, id)
	return t.cachedTopology(&t.members, id, [4]any{t.Topologies.Version(r), t.Nodes.Version(r), t.Domains.Version(r)}, func() *Topology {
		x := &Topology{
			ID:      id,
			Nodes:   slices.Collect(seqValues(nodes)),
			Domains: slices.Collect(seqValues(domains)),
		}
		x.Sort()
		return x
	})
}

// cachedTopology returns what was made of these versions before, or makes it.
func (t *Trees) cachedTopology(
	kept *map[string]made,
	id string,
	of [4]any,
	make func() *Topology,
) *Topology {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := (*kept)[id]; m.t != nil && m.of == of {
		return m.t
	}
	if *kept == nil {
		*kept = map[string]made{}
	}
	x := make()
	(*kept)[id] = made{of, x}
	return x
}

// ChannelsOf returns the channels of a topology in the order of their names.
func (t *Trees) ChannelsOf(r state.Reader, topology string) []Channel {
	return slices.SortedFunc(t.ChannelsIn(r, topology), func(a, b Channel) int {
		return cmp.Compare(a.Name, b.Name)
	})
}

// ChannelsIn yields the channels of a topology.
func (t *Trees) ChannelsIn(r state.Reader, topology string) iter.Seq[Channel] {
	return seqValues(t.Channels.All(r, topology))
}

// seqValues yields the values of all, without their keys.
func seqValues[T any](all iter.Seq2[string, T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, x := range all {
			if !yield(x) {
				return
			}
		}
	}
}

// ChannelTopologies lists the topologies that have channels, ascending.
func (t *Trees) ChannelTopologies(r state.Reader) (out []string) {
	for path := range t.Channels.All(r) {
		id := t.Channels.Keys(path)[0]
		if len(out) == 0 || out[len(out)-1] != id {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Network is all that decides what routers hold: the topologies, and their channels by
// topology-id.
type Network struct {
	Topologies []*Topology
	Channels   map[string]iter.Seq[Channel]
}

// Network returns the topologies, without links, and the channels. The topologies must not
// be changed; each is the same pointer as before as long as nothing in it changes.
func (t *Trees) Network(r state.Reader) Network {
	n := Network{Channels: map[string]iter.Seq[Channel]{}}
	for _, id := range t.IDs(r) {
		n.Topologies = append(n.Topologies, t.Members(r, id))
		n.Channels[id] = t.ChannelsIn(r, id)
	}
	return n
}

// OneChannel is the network with one topology and one channel of it.
func OneChannel(t *Topology, c Channel) Network {
	return Network{
		Topologies: []*Topology{t},
		Channels: map[string]iter.Seq[Channel]{t.ID: func(yield func(Channel) bool) {
			yield(c)
		}},
	}
}

// NodeIDs are the ids of the nodes of all topologies.
func (t *Trees) NodeIDs(r state.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, n := range t.Nodes.All(r) {
			if !yield(n.ID) {
				return
			}
		}
	}
}
