package service

import (
	"context"
	"slices"
	"strings"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/state"
)

func (s *Service) topologyRPCs(m operations.Mux) {
	registerHandler(m, "topology:get-edge-list", ofNetwork(s, "edge-list-entry", edgesOf))
	registerHandler(m, "topology:get-node-list", ofNetwork(s, "node-list-entry", switchesOf))
	registerHandler(m, "topology:get-node-connector-list", s.getPortList)
	registerResultHandler(m, "topology:rediscover", func(ctx context.Context, _ operations.None) error {
		_, err := s.runDiscovery(ctx, discovery.All, nil)
		return err
	})
	registerResultHandler(m, "topology:set-discovery-interval", s.setDiscoveryInterval)
}

// edgeEntry is an entry of list edge-list-entry; the edge leads from tail to head.
type edgeEntry struct {
	HeadPort     string         `json:"head-node-connector-id"`
	HeadPortType discovery.Kind `json:"head-node-connector-type"`
	HeadNode     string         `json:"head-node-id"`
	HeadType     discovery.Kind `json:"head-node-type"`
	TailPort     string         `json:"tail-node-connector-id"`
	TailPortType discovery.Kind `json:"tail-node-connector-type"`
	TailNode     string         `json:"tail-node-id"`
	TailType     discovery.Kind `json:"tail-node-type"`
}

// ofNetwork makes the handler of an RPC that answers a list of what was discovered.
func ofNetwork[T any](s *Service, list string,
	entries func(*discovery.Network) []T) func(context.Context, operations.None) (map[string][]T, error) {
	return func(ctx context.Context, _ operations.None) (map[string][]T, error) {
		n, err := s.survey.Await(ctx)
		if err != nil {
			return nil, err
		}
		return map[string][]T{list: entries(n)}, nil
	}
}

func edgesOf(n *discovery.Network) []edgeEntry {
	out := make([]edgeEntry, 0, len(n.Edges))
	for _, e := range n.Edges {
		if e.NodeLevel() {
			continue // the list is of ports; the topology tree has it
		}
		out = append(out, edgeEntry{
			HeadPort:     e.Head.Port,
			HeadPortType: e.Head.Kind,
			HeadNode:     e.Head.Node,
			HeadType:     e.Head.Kind,
			TailPort:     e.Tail.Port,
			TailPortType: e.Tail.Kind,
			TailNode:     e.Tail.Node,
			TailType:     e.Tail.Kind,
		})
	}
	return out
}

type portEntry struct {
	ID       string         `json:"node-connector-id"`
	Type     discovery.Kind `json:"node-connector-type"`
	NodeID   string         `json:"node-id"`
	NodeType discovery.Kind `json:"node-type"`
}

// portList is a page of node-connector-list-entry.
type portList struct {
	Entries []portEntry `json:"node-connector-list-entry"`
	pageOut
}

// getPortList answers a page of the ports; the host asks for one after the other.
func (s *Service) getPortList(ctx context.Context, in pageIn) (*portList, error) {
	n, err := s.survey.Await(ctx)
	if err != nil {
		return nil, err
	}
	return portsOf(n, in)
}

// portsOf are the ports after the cursor, which names the last one of the page before: NODE/PORT.
func portsOf(n *discovery.Network, in pageIn) (*portList, error) {
	out := &portList{Entries: []portEntry{}}
	node, port, _ := strings.Cut(in.Cursor, "/")
	first, skip := 0, 0
	if in.Cursor != "" {
		first = slices.IndexFunc(n.Nodes, func(o discovery.Node) bool {
			return o.ID == node
		})
		if first < 0 {
			return nil, fault.At(
				fault.Invalid,
				"cursor",
				"%.60q is the cursor of a switch that is not known any more: read the list from its beginning",
				in.Cursor,
			)
		}
		skip = 1 + slices.IndexFunc(n.Nodes[first].Ports, func(p discovery.Port) bool {
			return p.ID == port
		})
		if skip == 0 {
			return nil, fault.At(
				fault.Invalid,
				"cursor",
				"%.60q is the cursor of a port that is not known any more: read the list from its beginning",
				in.Cursor,
			)
		}
	}
	for _, o := range n.Nodes[first:] {
		for _, p := range o.Ports[skip:] {
			if len(out.Entries) == in.pageRows() {
				last := out.Entries[len(out.Entries)-1]
				out.Next = last.NodeID + "/" + last.ID
				return out, nil
			}
			out.Entries = append(out.Entries, portEntry{p.ID, o.Kind, o.ID, o.Kind})
		}
		skip = 0
	}
	return out, nil
}

type nodeEntry struct {
	ID   string         `json:"node-id"`
	Type discovery.Kind `json:"node-type"`
}

// switchesOf lists the switches; devices outside the list show as ends of edges only.
func switchesOf(n *discovery.Network) []nodeEntry {
	out := []nodeEntry{}
	for _, node := range n.Nodes {
		if node.Kind == discovery.SNMP {
			out = append(out, nodeEntry{node.ID, node.Kind})
		}
	}
	return out
}

type intervalIn struct {
	Seconds int32 `json:"interval-second"`
}

// setDiscoveryInterval changes the period from now on; 0 turns periodic discovery off.
func (s *Service) setDiscoveryInterval(ctx context.Context, in intervalIn) error {
	_, err := s.store.Update(ctx, func(tx *state.Tx) error {
		return s.kept.Put(
			tx,
			"",
			keptInterval{time.Duration(in.Seconds) * time.Second, s.set.Discovery.Interval.Duration},
		)
	})
	return err
}
