package sources

import (
	"maps"
	"slices"
	"sync"

	"ctl.internal/sdk/topology"
)

// Merge holds what each source sees. It is safe for concurrent use.
type Merge struct {
	Rename map[string]string // id of a source's topology → id it has here
	Ignore []string

	mu    sync.Mutex
	views map[string]map[string]topology.Topology // source → id there
	dirty map[string]bool                         // ids here
	wake  chan struct{}
}

// NewMerge returns an empty Merge.
func NewMerge(rename map[string]string, ignore []string) *Merge {
	return &Merge{Rename: rename, Ignore: ignore, views: map[string]map[string]topology.Topology{}, dirty: map[string]bool{}, wake: make(chan struct{}, 1)}
}

func (m *Merge) id(id string) string {
	if to := m.Rename[id]; to != "" {
		return to
	}
	return id
}

// Change takes in what a source tells.
func (m *Merge) Change(source string, c topology.Change) {
	if slices.Contains(m.Ignore, c.TopologyID) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.views[source] == nil {
		m.views[source] = map[string]topology.Topology{}
	}
	if c.Removed {
		delete(m.views[source], c.TopologyID)
	} else {
		m.views[source][c.TopologyID] = m.views[source][c.TopologyID].Apply(c)
	}
	m.touch(c.TopologyID)
}

// Keep drops what a source saw of topologies other than these: it has started anew
// and told of these only.
func (m *Merge) Keep(source string, ids map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range m.views[source] {
		if !ids[id] {
			delete(m.views[source], id)
			m.touch(id)
		}
	}
}

// Drop forgets a source.
func (m *Merge) Drop(source string) { m.Keep(source, nil) }

func (m *Merge) touch(id string) {
	m.dirty[m.id(id)] = true
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Wake is sent to when Take has something to give.
func (m *Merge) Wake() <-chan struct{} { return m.wake }

// Take returns the topologies that changed since the last call, merged; nil for
// one that no source has any more.
func (m *Merge) Take() map[string]*topology.Topology {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]*topology.Topology{}
	for id := range m.dirty {
		out[id] = m.merged(id)
	}
	clear(m.dirty)
	return out
}

// Again marks topologies as changed: they could not be stored.
func (m *Merge) Again(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dirty[id] = true
}

// merged is the union; of two sources the first by name decides.
func (m *Merge) merged(id string) *topology.Topology {
	var out *topology.Topology
	for _, source := range slices.Backward(slices.Sorted(maps.Keys(m.views))) {
		for _, there := range slices.Sorted(maps.Keys(m.views[source])) {
			if m.id(there) != id {
				continue
			}
			if out == nil {
				out = &topology.Topology{ID: id, Nodes: map[string]topology.Node{}, Links: map[string]topology.Link{}}
			}
			maps.Copy(out.Nodes, m.views[source][there].Nodes)
			maps.Copy(out.Links, m.views[source][there].Links)
		}
	}
	return out
}

// Sources lists who tells of a topology, ascending.
func (m *Merge) Sources(id string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for source, views := range m.views {
		for there := range views {
			if m.id(there) == id {
				out = append(out, source)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
