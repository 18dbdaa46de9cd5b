// Package sources follows all sources of topologies: plugins with the capability
// topology. Of several that see the same one the union counts.
package sources

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"ctl.internal/internal/together"
	"ctl.internal/sdk/topology"
)

// Merge holds what each source sees. It is safe for concurrent use.
type Merge struct {
	Rename map[string]string // id of a source's topology → id it has here
	Ignore []string

	mu    sync.Mutex
	views map[string]map[string]topology.Topology // source → id there
	heard map[string]bool                         // sources that have said all once, or are not there
	known []string                                // ids here that sources saw earlier
	dirty map[string]bool                         // ids here
	wake  chan struct{}
}

// NewMerge returns an empty Merge; known are the topologies that sources saw earlier.
func NewMerge(rename map[string]string, ignore, known []string) *Merge {
	return &Merge{
		known:  known,
		Rename: rename,
		Ignore: ignore,
		views:  map[string]map[string]topology.Topology{},
		heard:  map[string]bool{},
		dirty:  map[string]bool{},
		wake:   make(chan struct{}, 1),
	}
}

func (m *Merge) renamedID(id string) string {
	return cmp.Or(m.Rename[id], id)
}

// Change takes in what a source reports.
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
		_, known := m.views[source][c.TopologyID]
		if known &&
			!c.Snapshot &&
			len(c.PutNodes)+len(c.RemovedNodes)+len(c.PutLinks)+len(c.RemovedLinks) == 0 {
			return // it was observed again as it was
		}
		m.views[source][c.TopologyID] = m.views[source][c.TopologyID].Apply(c)
	}
	m.touchTopology(c.TopologyID)
}

// Keep drops what a source saw of topologies other than these: it has said all it knows.
func (m *Merge) Keep(source string, ids map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.heard[source] { // what it saw earlier can be taken away from now on
		m.heard[source] = true
		for _, id := range m.known {
			m.markDirty(id)
		}
	}
	for id := range m.views[source] {
		if !ids[id] {
			delete(m.views[source], id)
			m.touchTopology(id)
		}
	}
}

// Drop forgets a source that is not there.
func (m *Merge) Drop(source string) { m.Keep(source, nil) }

func (m *Merge) touchTopology(id string) {
	m.markDirty(m.renamedID(id))
}

func (m *Merge) markDirty(id string) {
	m.dirty[id] = true
	together.Notify(m.wake)
}

// Again marks a topology as changed, by its id here.
func (m *Merge) Again(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.markDirty(id)
}

// Wake is sent to when Take has something to give.
func (m *Merge) Wake() <-chan struct{} { return m.wake }

// Take returns the ids of the topologies that changed since the last call, ascending.
func (m *Merge) Take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.Sorted(maps.Keys(m.dirty))
	clear(m.dirty)
	return out
}

// View returns a topology as the sources see it now, nil when none does, and whether all
// of those that saw it earlier have been heard.
func (m *Merge) View(
	id string,
	earlier []string,
) (seen *topology.Topology, sources []string, whole bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	whole = true
	for _, source := range earlier {
		whole = whole && m.heard[source]
	}
	return m.mergedTopology(id), m.listSources(id), whole
}

// mergedTopology is the union; of two sources the first by name decides.
func (m *Merge) mergedTopology(id string) *topology.Topology {
	var out *topology.Topology
	for _, source := range slices.Backward(slices.Sorted(maps.Keys(m.views))) {
		for _, there := range slices.Sorted(maps.Keys(m.views[source])) {
			if m.renamedID(there) != id {
				continue
			}
			if out == nil {
				out = &topology.Topology{
					ID:    id,
					Nodes: map[string]topology.Node{},
					Links: map[string]topology.Link{},
				}
			}
			maps.Copy(out.Nodes, m.views[source][there].Nodes)
			maps.Copy(out.Links, m.views[source][there].Links)
		}
	}
	return out
}

// listSources lists who sees a topology, ascending.
func (m *Merge) listSources(id string) []string {
	var out []string
	for source, views := range m.views {
		for there := range views {
			if m.renamedID(there) == id {
				out = append(out, source)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
