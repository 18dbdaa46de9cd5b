// Package topology is the capability of being a source of network topology: nodes,
// termination points and links, as the module network-topology has them.
//
// A source keeps its view in a Publisher, which turns each new view into the
// changes that watchers need. The host mirrors every source into the operational
// tree network-topology; other plugins watch a source through the Switchboard.
package topology

import (
	"context"
	"time"
)

// Topology is one network as a source sees it.
type Topology struct {
	ID       string // topology-id, unique among all sources: "switch:1", "flow:1"
	Nodes    map[string]Node
	Links    map[string]Link
	Observed time.Time // when the source last looked
}

// Node is a device. ID is unique in its topology.
type Node struct {
	ID         string
	TPs        map[string]TerminationPoint
	Attributes map[string]string // what the source knows besides: name, model, address, type
	Observed   time.Time
}

// TerminationPoint is a port. ID is unique in its node.
type TerminationPoint struct {
	ID         string
	Attributes map[string]string
}

// Link leads from one termination point to another; a cable is two links.
type Link struct {
	ID                   string
	SourceNode, SourceTP string
	DestNode, DestTP     string
	Attributes           map[string]string
	Observed             time.Time
}

// Change is what became different in one topology. With Snapshot set it replaces
// all that was known of it.
type Change struct {
	TopologyID   string
	Snapshot     bool
	Removed      bool // the topology itself is gone
	PutNodes     []Node
	RemovedNodes []string
	PutLinks     []Link
	RemovedLinks []string
	Observed     time.Time
}

// Source is the capability. Watch calls f with a snapshot of each topology (of
// the ids given, or all), then calls synced once, then f with each change, until
// ctx ends or f fails. A watcher that is slow gets changes merged, never lost.
type Source interface {
	Watch(ctx context.Context, ids []string, f func(Change) error, synced func()) error
}
