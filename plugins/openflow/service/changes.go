package service

import "ctl.internal/sdk/topology"

// The event stream, its notification, and how many changes may wait.
const (
	stream        = "openflow-topology"
	notification  = "openflow-topology:topology-changed"
	waitingEvents = 1024
)

// change is the notification topology-changed of module openflow-topology.
type change struct {
	Topology string   `json:"topology-id"`
	Added    []string `json:"added-node,omitempty"`
	Changed  []string `json:"changed-node,omitempty"`
	Removed  []string `json:"removed-node,omitempty"`
	Links    []edge   `json:"added-link,omitempty"`
	Lost     []string `json:"removed-link,omitempty"`
}

type edge struct {
	ID         string `json:"link-id"`
	SourceNode string `json:"source-node"`
	SourceTP   string `json:"source-tp"`
	DestNode   string `json:"dest-node"`
	DestTP     string `json:"dest-tp"`
}

// perEvent bounds the entries of one event.
const perEvent = 500

// changes is a change of the topology as events of bounded size.
func changes(before topology.Topology, c topology.Change) []change {
	var out []change
	count := 0
	at := func() *change {
		if count%perEvent == 0 {
			out = append(out, change{Topology: c.TopologyID})
		}
		count++
		return &out[len(out)-1]
	}
	for _, id := range c.RemovedLinks {
		e := at()
		e.Lost = append(e.Lost, id)
	}
	for _, id := range c.RemovedNodes {
		e := at()
		e.Removed = append(e.Removed, id)
	}
	for _, n := range c.PutNodes {
		e := at()
		if _, known := before.Nodes[n.ID]; known {
			e.Changed = append(e.Changed, n.ID)
		} else {
			e.Added = append(e.Added, n.ID)
		}
	}
	for _, l := range c.PutLinks {
		e := at()
		e.Links = append(e.Links, edge{l.ID, l.SourceNode, l.SourceTP, l.DestNode, l.DestTP})
	}
	return out
}
