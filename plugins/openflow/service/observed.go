package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/topology"
)

// role is held by the one process that acts on switches: master where that is asked for,
// rules, LLDP, and what is written of it.
const role = "openflow-discovery"

// The key, and the bounds: the least time between two records of one switch, and the time of a write.
const (
	observedPrefix = "observed/switch/"
	between        = 5 * time.Second
	exportTime     = 10 * time.Second
)

// record is what the process that acts on the switches knows of one, as all nodes read it.
type record struct {
	Source   string          `json:"source"` // node that has the session
	Epoch    uint64          `json:"epoch"`
	At       time.Time       `json:"at"`
	Sum      string          `json:"sum"` // of what counts as a change
	Node     topology.Node   `json:"node"`
	Links    []topology.Link `json:"links,omitempty"` // that begin there
	Datapath uint64          `json:"datapath"`
	Remote   string          `json:"remote"`
	Role     uint32          `json:"role"`
	Ports    int             `json:"ports"`
	Up       int             `json:"up"`
	Software string          `json:"software,omitempty"`
	Since    time.Time       `json:"since"`
	Problem  string          `json:"problem,omitempty"`
}

func newRecord(w discovery.Switch, node topology.Node, links []topology.Link) record {
	return record{
		Node:     node,
		Links:    links,
		Datapath: w.Datapath,
		Remote:   w.Remote,
		Role:     w.Role,
		Ports:    w.Ports,
		Up:       w.Up,
		Software: w.Description.Software,
		Since:    w.Since,
		Problem:  w.Problem,
	}
}

// shortenPorts leaves the ports of a switch with thousands of them their names.
func shortenPorts(o *record) bool {
	tps, shorter := map[string]topology.TerminationPoint{}, false
	for id, tp := range o.Node.TPs {
		tps[id] = topology.TerminationPoint{ID: id}
		shorter = shorter || len(tp.Attributes) > 0
	}
	o.Node.TPs = tps
	return shorter
}

// sumOf is equal for records that differ only in when the switch was heard.
func sumOf(o record) string {
	o.At, o.Sum, o.Epoch, o.Source, o.Node.Observed = time.Time{}, "", 0, "", time.Time{}
	links := make([]topology.Link, len(o.Links))
	for i, l := range o.Links {
		l.Observed = time.Time{}
		links[i] = l
	}
	o.Links = links
	text, err := json.Marshal(o)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// storedTopology is the topology as the records have it.
func (s *Service) storedTopology() topology.Topology {
	t := topology.Topology{
		ID:    s.set.Topology,
		Nodes: map[string]topology.Node{},
		Links: map[string]topology.Link{},
	}
	for _, o := range s.observed.All(s.store.Now(), "") {
		t.Nodes[o.Node.ID] = o.Node
		for _, l := range o.Links {
			t.Links[l.ID] = l
		}
		if o.At.After(t.Observed) {
			t.Observed = o.At
		}
	}
	return t
}

// publishObserved shows what the process that acts has observed, until ctx ends.
func (s *Service) publishObserved(ctx context.Context) {
	for {
		if s.exporter.Load() == nil {
			s.publisher.Set(s.storedTopology())
		}
		select {
		case <-ctx.Done():
			return
		case <-s.seen:
		}
	}
}

// observation is what this process knows at one moment.
type observation struct {
	topology topology.Topology
	switches []discovery.Switch
}

// exporter writes what this process observes, as long as it holds the role.
type exporter struct {
	s     *Service
	term  *state.Term
	began time.Time
	news  chan struct{}

	mu      sync.Mutex
	newest  observation
	written map[string]time.Time
}

func (e *exporter) takeObservation(o observation) {
	e.mu.Lock()
	e.newest = o
	e.mu.Unlock()
	together.Notify(e.news)
}

// withInherited adds what the process before knew, as long as the switches had no time to
// connect and the frames none to pass: a topology does not vanish with a hand-over.
func (e *exporter) withInherited(t topology.Topology) topology.Topology {
	if time.Since(e.began) > e.s.set.Discovery.Expiry.Duration {
		return t
	}
	var links []topology.Link
	for _, o := range e.s.observed.All(e.s.store.Now(), "") {
		if o.Epoch >= e.term.Epoch() {
			continue
		}
		if _, ok := t.Nodes[o.Node.ID]; !ok {
			t.Nodes[o.Node.ID] = o.Node
		}
		links = append(links, o.Links...)
	}
	for _, l := range links {
		_, known := t.Links[l.ID]
		_, from := t.Nodes[l.SourceNode].TPs[l.SourceTP]
		_, to := t.Nodes[l.DestNode].TPs[l.DestTP]
		if !known && from && to {
			t.Links[l.ID] = l
		}
	}
	return t
}

// runExport writes after each change, of one switch not more often than every few seconds.
func (e *exporter) runExport(ctx context.Context) {
	expired := time.After(e.s.set.Discovery.Expiry.Duration)
	for ctx.Err() == nil {
		var later <-chan time.Time
		if wait := e.flush(ctx); wait > 0 {
			later = time.After(wait)
		}
		select {
		case <-e.news:
		case <-later:
		case <-expired: // what has not come back by now is gone
			_ = e.s.loop.askCore(ctx, func(c *discovery.Core) { c.Touch() })
		case <-ctx.Done():
		}
	}
}

// flush writes what has changed and returns after which time to look again; 0: not before
// the next change.
func (e *exporter) flush(ctx context.Context) (later time.Duration) {
	e.mu.Lock()
	newest := e.newest
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exportTime)
	defer cancel()
	links := map[string][]topology.Link{}
	for _, l := range newest.topology.Links {
		links[l.SourceNode] = append(links[l.SourceNode], l)
	}
	there := map[string]bool{}
	for _, w := range newest.switches {
		id := discovery.NodeID(w.Datapath)
		key := fmt.Sprintf("%016x", w.Datapath)
		there[key] = true
		o := newRecord(w, newest.topology.Nodes[id], links[id])
		o.Source, o.Epoch, o.At, o.Sum = e.s.source, e.term.Epoch(), time.Now(), sumOf(o)
		old, known := e.s.observed.Get(e.s.store.Now(), key)
		if known && old.Sum == o.Sum && old.Epoch == o.Epoch {
			continue
		}
		if wait := between - time.Since(e.written[key]); wait > 0 {
			later = max(later, wait)
			continue
		}
		err := e.writeRecords(ctx, func(tx *state.Tx) error {
			return e.s.observed.Put(tx, key, o)
		})
		if err != nil {
			return between
		}
		e.written[key] = time.Now()
	}
	for key, o := range e.s.observed.All(e.s.store.Now(), "") {
		if there[key] ||
			o.Epoch < e.term.Epoch() && time.Since(e.began) <= e.s.set.Discovery.Expiry.Duration {
			continue
		}
		err := e.writeRecords(ctx, func(tx *state.Tx) error {
			e.s.observed.Delete(tx, key)
			return nil
		})
		if err != nil {
			return between
		}
	}
	return later
}

func (e *exporter) writeRecords(ctx context.Context, decide func(*state.Tx) error) error {
	_, err := e.term.Update(ctx, decide)
	if err != nil && e.term.Check() == nil {
		e.s.log.Warn("what is known of the switches is not written; trying again", "err", err)
	}
	return err
}

// holdRole acts on the switches until ctx ends.
func (s *Service) holdRole(ctx context.Context, term *state.Term) {
	s.log.Info("this process acts on the OpenFlow switches", "role", role, "epoch", term.Epoch())
	e := &exporter{
		s:       s,
		term:    term,
		began:   time.Now(),
		news:    make(chan struct{}, 1),
		written: map[string]time.Time{},
	}
	s.publisher.Set(s.storedTopology())
	s.exporter.Store(e)
	if s.loop.askCore(ctx, func(c *discovery.Core) {
		c.Act(term.Epoch(), time.Now())
	}) == nil {
		e.runExport(ctx)
	}
	s.exporter.Store(nil)
	_ = s.loop.askCore(context.WithoutCancel(ctx), func(c *discovery.Core) { c.Rest() })
	together.Notify(s.seen)
}
