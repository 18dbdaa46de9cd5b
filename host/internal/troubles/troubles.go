// Package troubles keeps the one list of what is wrong: each reporter (a room of the host on a node, a plugin,
// the observer of the topologies) replaces its own list, people acknowledge and silence. The list is in the
// datastore, so it is the same on all nodes and survives a restart. What is wrong is found elsewhere.
package troubles

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// Trouble is one thing that is wrong.
type Trouble struct {
	Kind     string `json:"kind"`     // such as plugin, store or link-lost
	Resource string `json:"resource"` // path of data, which begins with "/", or words such as "plugin NAME"
	// Concerns are further paths of data that the trouble names: the trouble is not shown to who may not read one.
	Concerns []string  `json:"concerns,omitempty"`
	Subject  string    `json:"subject,omitempty"` // the resource as people name it
	Warning  bool      `json:"warning,omitempty"` // nothing fails yet
	Since    time.Time `json:"since"`             // zero: since it was reported
	Cause    string    `json:"cause"`
	Remedy   string    `json:"remedy,omitempty"`
	Topology string    `json:"topology,omitempty"` // that the ends are in
	Ends     []End     `json:"ends,omitempty"`     // a node, or those of a link
	// Restricted troubles are shown to role admin only.
	Restricted bool `json:"restricted,omitempty"`
	// Passing troubles are expected to end by themselves within moments: one is listed only if it is in the list already.
	Passing bool `json:"-"`
}

// End is a node of a topology, or a port of it.
type End struct {
	Node string `json:"node"`
	Port string `json:"port,omitempty"`
}

// Mark is what a person did with a trouble.
type Mark struct {
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Note string    `json:"note,omitempty"`
}

// Entry is a trouble of the list.
type Entry struct {
	Trouble
	ID           string
	Node         string // whose view it is; AllNodes: the same on each
	Reporter     string
	Acknowledged *Mark
	Silenced     *Mark
	Until        time.Time // of the silence
}

// Counts reports whether a trouble asks for somebody: it is neither acknowledged nor silenced.
func (e *Entry) Counts() bool {
	return e.Acknowledged == nil && e.Silenced == nil
}

// AllNodes is used for the node where what is reported is the same on each.
const AllNodes = "all"

// The bounds of a list.
const (
	maxTroubles = 1000 // of one reporter
	maxText     = 1024 // bytes of a cause, a remedy or a note
)

// idOf identifies a trouble for as long as it is there, and when it comes again.
func idOf(node, reporter string, t *Trouble) string {
	sum := sha256.Sum256(
		[]byte(strings.Join([]string{node, reporter, t.Kind, t.Resource}, "\x00")),
	)
	return hex.EncodeToString(sum[:8])
}

// cut bounds a text, which may be from a device.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + " …"
}
