package service

import (
	"strings"
	"time"

	"ctl.internal/plugins/switch/discovery"
)

// rememberChange adds a change to those of the history, each cable once.
func rememberChange(
	l []discovery.Change,
	at time.Time,
	cause discovery.Cause,
	c change,
) []discovery.Change {
	nodes := func(kind discovery.ChangeKind, ids []string) {
		for _, id := range ids {
			l = append(l, discovery.Change{
				At:    at,
				Cause: string(cause),
				Kind:  kind,
				Node:  id,
			})
		}
	}
	nodes(discovery.NodeAdded, c.AddedNodes)
	nodes(discovery.Answering, c.Answering)
	edges := func(kind discovery.ChangeKind, list []edge) {
		for _, e := range list {
			between := !isOutside(e.TailNode) && !isOutside(e.HeadNode)
			if between && isTailFirst(e) {
				continue // the other direction is remembered
			}
			l = append(l, discovery.Change{
				At:       at,
				Cause:    string(cause),
				Kind:     kind,
				Node:     e.TailNode,
				Port:     e.TailPort,
				Peer:     e.HeadNode,
				PeerPort: e.HeadPort,
				Source:   e.Source,
			})
		}
	}
	edges(discovery.EdgeRemoved, c.RemovedEdges)
	edges(discovery.EdgeAdded, c.AddedEdges)
	nodes(discovery.Silent, c.Silent)
	nodes(discovery.NodeRemoved, c.RemovedNodes)
	return l
}

func isTailFirst(e edge) bool {
	return e.TailNode < e.HeadNode || e.TailNode == e.HeadNode && e.TailPort < e.HeadPort
}

// isOutside recognizes devices outside the list by the form of their ids.
func isOutside(id string) bool {
	return strings.Contains(id, ":")
}

// change is the notification topology-changed of module switch-topology.
type change struct {
	AddedNodes   []string `json:"added-node,omitempty"`
	RemovedNodes []string `json:"removed-node,omitempty"`
	Silent       []string `json:"silent-node,omitempty"`
	Answering    []string `json:"answering-node,omitempty"`
	AddedEdges   []edge   `json:"added-edge,omitempty"`
	RemovedEdges []edge   `json:"removed-edge,omitempty"`
}

type edge struct {
	TailNode  string `json:"tail-node-id"`
	TailPort  string `json:"tail-node-connector-id"`
	HeadNode  string `json:"head-node-id"`
	HeadPort  string `json:"head-node-connector-id"`
	Confirmed bool   `json:"confirmed"`
	Source    string `json:"source,omitempty"`
}

// perEvent bounds the entries of one event.
const perEvent = 500

// diffNetworks returns what became different, in parts of bounded size.
func diffNetworks(before, after *discovery.Network) []change {
	if before == nil {
		before = &discovery.Network{}
	}
	var out []change
	count := 0
	at := func() *change {
		if count%perEvent == 0 {
			out = append(out, change{})
		}
		count++
		return &out[len(out)-1]
	}
	nodes := map[string]discovery.Node{}
	for _, n := range before.Nodes {
		nodes[n.ID] = n
	}
	for _, n := range after.Nodes {
		old, known := nodes[n.ID]
		delete(nodes, n.ID)
		if !known {
			c := at()
			c.AddedNodes = append(c.AddedNodes, n.ID)
		}
		switch {
		case n.Stale && !(known && old.Stale):
			c := at()
			c.Silent = append(c.Silent, n.ID)
		case known && old.Stale && !n.Stale:
			c := at()
			c.Answering = append(c.Answering, n.ID)
		}
	}
	for _, n := range before.Nodes {
		if _, gone := nodes[n.ID]; gone {
			c := at()
			c.RemovedNodes = append(c.RemovedNodes, n.ID)
		}
	}
	edges := map[edge]bool{}
	for _, e := range before.Edges {
		edges[edgeOf(e)] = true
	}
	for _, e := range after.Edges {
		k := edgeOf(e)
		if !edges[k] {
			c := at()
			c.AddedEdges = append(c.AddedEdges, k)
		}
		delete(edges, k)
	}
	for _, e := range before.Edges {
		if k := edgeOf(e); edges[k] {
			c := at()
			c.RemovedEdges = append(c.RemovedEdges, k)
		}
	}
	return out
}

func edgeOf(e discovery.Edge) edge {
	return edge{e.Tail.Node, e.Tail.Port, e.Head.Node, e.Head.Port, e.Confirmed, e.Source}
}

// The event stream, its notification, and how many changes may wait.
const (
	stream        = "switch-topology"
	notification  = "switch-topology:topology-changed"
	waitingEvents = 1024
)
