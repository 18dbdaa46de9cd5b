package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/lab/compare"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/topology"
)

// lookTime is how long a source has to say what it sees.
const lookTime = 20 * time.Second

// look asks all sources what they see now; of one topology, if id names one.
func (s *Service) look(ctx context.Context, id string) (*compare.Found, error) {
	providers, err := s.host.Switchboard.Providers(ctx, "topology")
	if err != nil {
		return nil, err
	}
	if len(providers) == 0 {
		return nil, fault.New(fault.Unavailable,
			"no source of topologies is installed: install one, for example with feature:install ctl-switch-all")
	}
	var names []string
	for _, p := range providers {
		names = append(names, p.Name)
	}
	return gather(ctx, id, names, s.snapshot)
}

// snapshotter is what a source sees now; of one topology, if id names one.
type snapshotter func(ctx context.Context, provider, id string) (map[string]topology.Topology, error)

// gather asks the sources side by side. What one source does not say is an error, unless another has the topology that
// is asked for.
func gather(
	ctx context.Context,
	id string,
	providers []string,
	snapshot snapshotter,
) (*compare.Found, error) {
	seen := make([]map[string]topology.Topology, len(providers))
	failed := make([]error, len(providers))
	var group errgroup.Group
	for i, name := range providers {
		group.Go(func() error {
			var err error
			if seen[i], err = snapshot(ctx, name, id); err != nil {
				failed[i] = fmt.Errorf("the source %s: %w", name, err)
			}
			return nil
		})
	}
	_ = group.Wait() // each error is kept
	found := &compare.Found{Nodes: map[string]*compare.Node{}}
	known := 0
	for _, topologies := range seen {
		for _, key := range slices.Sorted(maps.Keys(topologies)) {
			addTopology(found, topologies[key])
			known++
		}
	}
	if id != "" && known > 0 {
		return found, nil
	}
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	if id != "" {
		return nil, fault.New(fault.NotFound, "no source has a topology %q", id)
	}
	return found, nil
}

// errEnough ends a watch after what there is.
var errEnough = errors.New("all topologies were seen")

// watcher is a source: the part of topology.Client that is needed here.
type watcher interface {
	Watch(ctx context.Context, ids []string, f func(topology.Change) error, synced func()) error
}

// snapshot is what a source sees now.
func (s *Service) snapshot(
	ctx context.Context,
	provider, id string,
) (map[string]topology.Topology, error) {
	return readSnapshot(ctx, topology.NewClient(s.host.Switchboard.Dial(provider)), id)
}

// readSnapshot is what a source sees now. A source that ends before it has said all is not believed.
func readSnapshot(
	ctx context.Context,
	source watcher,
	id string,
) (map[string]topology.Topology, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var ids []string
	if id != "" {
		ids = []string{id}
	}
	out := map[string]topology.Topology{}
	synced := false
	err := source.Watch(ctx, ids, func(c topology.Change) error {
		if synced {
			return errEnough
		}
		applyChange(out, c)
		return nil
	}, func() {
		synced = true
		cancel()
	})
	switch {
	case synced:
		return out, nil
	case err == nil || errors.Is(err, io.EOF):
		return nil, fault.New(fault.Unavailable, "it ended before it had said all that it sees")
	}
	return nil, err
}

func applyChange(seen map[string]topology.Topology, c topology.Change) {
	if c.Removed {
		delete(seen, c.TopologyID)
		return
	}
	t, ok := seen[c.TopologyID]
	if !ok || c.Snapshot {
		t = topology.Topology{
			ID:    c.TopologyID,
			Nodes: map[string]topology.Node{},
			Links: map[string]topology.Link{},
		}
	}
	for _, n := range c.PutNodes {
		t.Nodes[n.ID] = n
	}
	for _, n := range c.RemovedNodes {
		delete(t.Nodes, n)
	}
	for _, l := range c.PutLinks {
		t.Links[l.ID] = l
	}
	for _, l := range c.RemovedLinks {
		delete(t.Links, l)
	}
	seen[c.TopologyID] = t
}

// addTopology adds the nodes and links of a topology. Ids of nodes are unique in their topology only.
func addTopology(f *compare.Found, t topology.Topology) {
	key := func(node string) string { return t.ID + "\x00" + node }
	for id, n := range t.Nodes {
		node := &compare.Node{
			ID:       id,
			Topology: t.ID,
			Name:     n.Attributes["name"],
			Address:  addressOf(n.Attributes["address"]),
			MAC:      macNumber(n.Attributes["mac"]),
			OpenFlow: n.Attributes["type"] == "openflow",
			Silent:   n.Attributes["answering"] == "false",
		}
		for tp, p := range n.TPs {
			kbps, _ := strconv.ParseUint(p.Attributes["speed-kbps"], 10, 64) // absent: not known
			node.Ports = append(node.Ports, compare.Port{
				ID:   tp,
				Name: p.Attributes["name"],
				Up:   p.Attributes["state"] == "up",
				Kbps: kbps,
			})
		}
		f.Nodes[key(id)] = node
	}
	for _, l := range t.Links {
		f.Links = append(f.Links, compare.Link{
			SourceNode:    key(l.SourceNode),
			SourcePort:    l.SourceTP,
			DestNode:      key(l.DestNode),
			DestPort:      l.DestTP,
			OneSided:      l.Attributes["confirmed"] == "false",
			Inferred:      l.Attributes["inferred"] == "true",
			SourceMembers: splitList(l.Attributes["source-members"]),
			DestMembers:   splitList(l.Attributes["destination-members"]),
		})
	}
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// addressOf is an address without a port.
func addressOf(text string) string {
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		return text
	}
	return host
}

// macNumber is a MAC address as the operations of switches number them; 0 if it is none.
func macNumber(text string) uint64 {
	mac, err := net.ParseMAC(text)
	if err != nil || len(mac) != 6 {
		return 0
	}
	n := uint64(0)
	for _, b := range mac {
		n = n<<8 | uint64(b)
	}
	return n
}
