package changes

import "time"

// Kind is what happened.
type Kind string

// The kinds of changes.
const (
	NodeAdded   Kind = "node added"
	NodeRemoved Kind = "node removed"
	Silent      Kind = "node silent"
	Answering   Kind = "node answering"
	EdgeAdded   Kind = "edge added"
	EdgeRemoved Kind = "edge removed"
)

// Change is one thing that became different. A cable is one change, not two edges.
type Change struct {
	At    time.Time `json:"at"`
	Cause string    `json:"cause"` // why the switches were read: command, periodic, list, trap
	Kind  Kind      `json:"kind"`
	Node  string    `json:"node"` // node-id, as in module topology
	// Of edges only.
	Port     string `json:"port,omitempty"`
	Peer     string `json:"peer,omitempty"`
	PeerPort string `json:"peer-port,omitempty"`
	Source   string `json:"source,omitempty"`
}

// Keep is how many changes are remembered.
const Keep = 1000
