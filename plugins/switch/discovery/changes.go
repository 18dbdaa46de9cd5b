package discovery

import (
	"time"

	"ctl.internal/plugins/switch/mib"
)

// ChangeKind is what happened.
type ChangeKind string

// The kinds of changes.
const (
	NodeAdded   ChangeKind = "node added"
	NodeRemoved ChangeKind = "node removed"
	Silent      ChangeKind = "node silent"
	Answering   ChangeKind = "node answering"
	EdgeAdded   ChangeKind = "edge added"
	EdgeRemoved ChangeKind = "edge removed"
	PortUp      ChangeKind = "port up"
	PortDown    ChangeKind = "port down"
	Moved       ChangeKind = "address moved"
)

// Change is one thing that became different. A cable is one change, not two edges.
type Change struct {
	At    time.Time  `json:"at"`
	Cause string     `json:"cause"`        // why the switches were read: command, periodic, list, trap
	By    string     `json:"by,omitempty"` // who asked for the discovery that found it, of a command
	Kind  ChangeKind `json:"kind"`
	Node  string     `json:"node"` // node-id, as in module topology
	// MAC is the address that moved, from Peer and PeerPort.
	MAC mib.MAC `json:"mac,omitempty"`
	// Of edges only, Port of ports too.
	Port     string `json:"port,omitempty"`
	Peer     string `json:"peer,omitempty"`
	PeerPort string `json:"peer-port,omitempty"`
	Source   string `json:"source,omitempty"`
}

// KeepChanges is how many changes are remembered.
const KeepChanges = 1000
