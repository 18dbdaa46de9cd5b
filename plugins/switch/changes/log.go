package changes

import (
	"slices"
	"sync"
	"time"
)

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
	At    time.Time
	Cause string // why the switches were read: command, periodic, list, trap
	Kind  Kind
	Node  string // node-id, as in module topology
	// Of edges only.
	Port, Peer, PeerPort string
	Source               string
}

// keep bounds the memory of a Log.
const keep = 1000

// Log is the last changes. It is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	ring []Change
	next int
}

// Add remembers a change; the oldest is forgotten when there are many.
func (l *Log) Add(c Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ring) < keep {
		l.ring = append(l.ring, c)
		return
	}
	l.ring[l.next] = c
	l.next = (l.next + 1) % keep
}

// Last returns the changes that are remembered, the newest first.
func (l *Log) Last() []Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := append(slices.Clone(l.ring[l.next:]), l.ring[:l.next]...)
	slices.Reverse(out)
	return out
}
