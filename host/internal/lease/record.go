package lease

import (
	"time"

	"ctl.internal/host/internal/datastore"
)

// Namespace is where roles and nodes are kept.
const Namespace = "lease"

const (
	rolePrefix   = "role/"
	nodePrefix   = "node/"
	reportPrefix = "running/"
)

// Node is the record of a node that is alive.
type Node struct {
	ID          string    `json:"id"`
	Host        string    `json:"host"`              // name of the machine
	Home        string    `json:"home"`              // on that machine
	Address     string    `json:"address,omitempty"` // where it takes calls of other nodes; empty = it takes none
	Version     string    `json:"version"`
	Contract    string    `json:"contract"`              // newest version of the plugin contract that it speaks
	Fingerprint string    `json:"fingerprint,omitempty"` // SHA-256 of its certificate, in hex
	Started     time.Time `json:"started"`
	Instance    string    `json:"instance"` // random, of this start
	Lease       int64     `json:"lease"`
	Inode       uint64    `json:"inode,omitempty"` // of the home's lock: a copy of the home has another
}

// Role is a role that somebody holds.
type Role struct {
	Name   string             `json:"name"`
	Node   string             `json:"node"`   // id
	Holder string             `json:"holder"` // plugin or part of the host
	Epoch  datastore.Revision `json:"epoch"`
	Since  time.Time          `json:"since"`
}

// roleRecord is the value of a role's key.
type roleRecord struct {
	Node     string    `json:"node"`
	Instance string    `json:"instance"`
	Holder   string    `json:"holder"`
	Since    time.Time `json:"since"`
	Try      string    `json:"try"` // random, to know the own transaction again after an unclear answer
}
