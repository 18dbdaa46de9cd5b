package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

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
	found := &compare.Found{Nodes: map[string]*compare.Node{}}
	known := 0
	for _, p := range providers {
		seen, err := s.snapshot(ctx, p.Name, id)
		if err != nil {
			return nil, fmt.Errorf("the source %s: %w", p.Name, err)
		}
		for _, t := range seen {
			addTopology(found, t)
			known++
		}
	}
	if id != "" && known == 0 {
		return nil, fault.New(fault.NotFound, "no source has a topology %q", id)
	}
	return found, nil
}

// errEnough ends a watch after what there is.
var errEnough = errors.New("all topologies were seen")

// snapshot is what a source sees now.
func (s *Service) snapshot(
	ctx context.Context,
	provider, id string,
) (map[string]topology.Topology, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var ids []string
	if id != "" {
		ids = []string{id}
	}
	out := map[string]topology.Topology{}
	synced := false
	client := topology.NewClient(s.host.Switchboard.Dial(provider))
	err := client.Watch(ctx, ids, func(c topology.Change) error {
		if synced {
			return errEnough
		}
		applyChange(out, c)
		return nil
	}, func() {
		synced = true
		cancel()
	})
	if synced {
		return out, nil
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
