package service

import (
	"context"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/sdk/operations"
)

func (s *Service) topologyRPCs(m operations.Mux) {
	get(m, "topology:get-edge-list", s.getEdgeList)
	get(m, "topology:get-node-list", s.getNodeList)
	get(m, "topology:get-node-connector-list", s.getNodeConnectorList)
	set(m, "topology:rediscover", func(ctx context.Context, _ operations.None) error {
		_, err := s.discover(ctx, discovery.All, nil)
		return err
	})
	set(m, "topology:set-discovery-interval", s.setDiscoveryInterval)
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

type edgeList struct {
	Entries []edgeEntry `json:"edge-list-entry"`
}

func (s *Service) getEdgeList(ctx context.Context, _ operations.None) (*edgeList, error) {
	n, err := s.survey.Await(ctx)
	if err != nil {
		return nil, err
	}
	out := &edgeList{Entries: make([]edgeEntry, 0, len(n.Edges))}
	for _, e := range n.Edges {
		if e.NodeLevel() {
			continue // the list is of ports; the topology tree has it
		}
		out.Entries = append(out.Entries, edgeEntry{
			HeadPort: e.Head.Port, HeadPortType: e.Head.Kind, HeadNode: e.Head.Node, HeadType: e.Head.Kind,
			TailPort: e.Tail.Port, TailPortType: e.Tail.Kind, TailNode: e.Tail.Node, TailType: e.Tail.Kind})
	}
	return out, nil
}

type portEntry struct {
	ID       string         `json:"node-connector-id"`
	Type     discovery.Kind `json:"node-connector-type"`
	NodeID   string         `json:"node-id"`
	NodeType discovery.Kind `json:"node-type"`
}

type portList struct {
	Entries []portEntry `json:"node-connector-list-entry"`
}

func (s *Service) getNodeConnectorList(ctx context.Context, _ operations.None) (*portList, error) {
	n, err := s.survey.Await(ctx)
	if err != nil {
		return nil, err
	}
	out := &portList{Entries: []portEntry{}}
	for _, node := range n.Nodes {
		for _, p := range node.Ports {
			out.Entries = append(out.Entries, portEntry{p.ID, node.Kind, node.ID, node.Kind})
		}
	}
	return out, nil
}

type nodeEntry struct {
	ID   string         `json:"node-id"`
	Type discovery.Kind `json:"node-type"`
}

type nodeList struct {
	Entries []nodeEntry `json:"node-list-entry"`
}

// getNodeList lists the switches; devices outside the list show as ends of edges only.
func (s *Service) getNodeList(ctx context.Context, _ operations.None) (*nodeList, error) {
	n, err := s.survey.Await(ctx)
	if err != nil {
		return nil, err
	}
	out := &nodeList{Entries: []nodeEntry{}}
	for _, node := range n.Nodes {
		if node.Kind == discovery.SNMP {
			out.Entries = append(out.Entries, nodeEntry{node.ID, node.Kind})
		}
	}
	return out, nil
}

type intervalIn struct {
	Seconds int32 `json:"interval-second"`
}

// setDiscoveryInterval changes the period from now on; 0 turns periodic discovery off.
func (s *Service) setDiscoveryInterval(ctx context.Context, in intervalIn) error {
	return s.saveInterval(ctx, time.Duration(in.Seconds)*time.Second)
}
