// Package topomirror keeps a merged view of all sources of network topology: every
// plugin with the capability "topology" is watched, and what it sent last is kept
// while it restarts. The view feeds the operational tree network-topology. Making
// a topology is the business of the plugins (sdk/topology).
package topomirror

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"ctl.internal/internal/together"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/topology"
)

// capability is the one whose providers are watched.
const capability = "topology"

// Sources lists who serves topologies and connects to them; *plugin.Manager does.
type Sources interface {
	Providers(capability string) []host.Provider
	Changed() <-chan struct{}
	Conn(name string) (grpc.ClientConnInterface, error)
}

// View is the merged topologies at one moment. It does not change.
type View struct {
	// Revision grows with each change.
	Revision   uint64
	Topologies map[string]topology.Topology // by id; do not change them
	Sources    map[string]string            // the plugins that they are of, by id
	Running    map[string]bool              // the plugins that run
	// Versions grow, by id, with each change of what is in a topology, as opposed to when it was observed.
	Versions map[string]uint64
	// Synced says that every source that is there has sent what it has.
	Synced bool
}

// Mirror is the merged view. It is safe for concurrent use.
type Mirror struct {
	sources Sources
	log     *slog.Logger
	cancel  context.CancelFunc
	work    sync.WaitGroup
	view    atomic.Pointer[View]

	mu       sync.Mutex
	known    map[string]map[string]topology.Topology // by provider and id
	sizes    map[string]map[string]int               // of those, at most; exact when that would be too much
	watched  map[string]*watched
	listed   bool // the sources are known
	waiting  int  // sources that are not ready yet
	running  map[string]bool
	versions map[string]uint64 // by id
	version  uint64            // the newest
	changed  together.Signal
}

// watched is a provider whose process of one generation is being watched.
type watched struct {
	cancel     context.CancelFunc
	generation uint64
	synced     bool
}

// Start returns a mirror that follows the sources until Close.
func Start(sources Sources, log *slog.Logger) *Mirror {
	ctx, cancel := context.WithCancel(context.Background())
	m := &Mirror{
		sources:  sources,
		log:      log,
		cancel:   cancel,
		known:    map[string]map[string]topology.Topology{},
		sizes:    map[string]map[string]int{},
		watched:  map[string]*watched{},
		versions: map[string]uint64{},
	}
	m.view.Store(&View{})
	m.work.Go(func() { m.followProviders(ctx) })
	return m
}

// Close ends the watching.
func (m *Mirror) Close() {
	m.cancel()
	m.work.Wait()
}

// View returns the newest view.
func (m *Mirror) View() *View { return m.view.Load() }

// Changed returns a channel that is closed at the next change of the view. Take it
// before the view.
func (m *Mirror) Changed() <-chan struct{} {
	return m.changed.Wait()
}

// followProviders keeps a watch on each provider that is there.
func (m *Mirror) followProviders(ctx context.Context) {
	for {
		changed := m.sources.Changed()
		m.adjustWatches(ctx, m.sources.Providers(capability))
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (m *Mirror) adjustWatches(ctx context.Context, now []host.Provider) {
	m.mu.Lock()
	defer m.mu.Unlock()
	there := map[string]bool{}
	for _, p := range now {
		there[p.Name] = true
		w := m.watched[p.Name]
		if !p.Ready || w != nil && w.generation == p.Generation {
			continue
		}
		synced := false
		if w != nil { // what its process before has sent holds until this one has
			w.cancel()
			synced = w.synced
		}
		wctx, cancel := context.WithCancel(ctx)
		m.watched[p.Name] = &watched{cancel, p.Generation, synced}
		m.work.Go(func() { defer cancel(); m.watchProvider(wctx, p.Name) })
	}
	for name, w := range m.watched {
		if !there[name] {
			w.cancel()
			delete(m.watched, name)
			m.forget(name)
		}
	}
	m.listed, m.waiting, m.running = true, 0, map[string]bool{}
	for _, p := range now {
		m.running[p.Name] = p.Ready
		if m.watched[p.Name] == nil {
			m.waiting++
		}
	}
	m.publishView()
}

// watchProvider follows one process of a provider until it is gone or replaced.
func (m *Mirror) watchProvider(ctx context.Context, name string) {
	for ctx.Err() == nil {
		conn, err := m.sources.Conn(name)
		if err != nil {
			return
		}
		fresh := map[string]bool{} // sent on this watch, until it is in step
		err = topology.NewClient(conn).Watch(ctx, nil,
			func(c topology.Change) error { return m.applyChange(ctx, name, c, fresh) },
			func() { m.retainFresh(ctx, name, fresh); fresh = nil })
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, errTooLarge) {
			m.log.Error("the plugin is not watched any more: "+err.Error(), "plugin", name)
			return
		}
		m.log.Debug("the watch of a topology source ended", "plugin", name, "error", err)
		_ = together.Sleep(ctx, time.Second)
	}
}

// maxSource bounds what the host keeps of one source, in bytes: some hundred thousand ports with their attributes.
const maxSource = 128 << 20

var errTooLarge = fmt.Errorf("its topologies have more than %d MiB, the most that the controller keeps of one plugin; "+
	"what it published before stays as it is until the plugin is restarted", maxSource>>20)

// applyChange makes a change of a provider's topology; errTooLarge if that is more than it may have.
func (m *Mirror) applyChange(
	ctx context.Context,
	provider string,
	c topology.Change,
	fresh map[string]bool,
) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err() // another watch has taken over
	}
	all := m.known[provider]
	if all == nil {
		all = map[string]topology.Topology{}
		m.known[provider], m.sizes[provider] = all, map[string]int{}
	}
	if c.Removed {
		m.drop(provider, c.TopologyID)
	} else if err := m.put(provider, c); err != nil {
		return err
	}
	if fresh != nil {
		fresh[c.TopologyID] = true
	}
	changes := len(c.PutNodes) + len(c.RemovedNodes) + len(c.PutLinks) + len(c.RemovedLinks)
	if !c.Removed && (changes > 0 || c.Snapshot) {
		m.version++
		m.versions[c.TopologyID] = m.version
	}
	m.publishView()
	return nil
}

// put keeps the state after a change.
func (m *Mirror) put(provider string, c topology.Change) error {
	all, sizes := m.known[provider], m.sizes[provider]
	more := sizeOf(c.TopologyID, c.PutNodes, c.PutLinks)
	if !c.Snapshot {
		more += sizes[c.TopologyID]
	}
	next := all[c.TopologyID].Apply(c)
	total := more
	for id, n := range sizes {
		if id != c.TopologyID {
			total += n
		}
	}
	if total > maxSource {
		total -= more
		more = sizeOf(
			c.TopologyID,
			slices.Collect(maps.Values(next.Nodes)),
			slices.Collect(maps.Values(next.Links)),
		)
		if total+more > maxSource {
			return errTooLarge
		}
	}
	all[c.TopologyID], sizes[c.TopologyID] = next, more
	return nil
}

// drop forgets a topology.
func (m *Mirror) drop(provider, id string) {
	delete(m.known[provider], id)
	delete(m.sizes[provider], id)
	for _, all := range m.known {
		if _, another := all[id]; another {
			return
		}
	}
	delete(m.versions, id)
}

// forget drops all topologies of a provider.
func (m *Mirror) forget(provider string) {
	for id := range m.known[provider] {
		m.drop(provider, id)
	}
	delete(m.known, provider)
	delete(m.sizes, provider)
}

// sizeOf is about how much memory the parts of a topology take.
func sizeOf(id string, nodes []topology.Node, links []topology.Link) int {
	const entry = 128 // of a map, and its headers
	of := func(texts map[string]string) (n int) {
		for name, value := range texts {
			n += entry/2 + len(name) + len(value)
		}
		return n
	}
	n := entry + len(id)
	for _, node := range nodes {
		n += entry + len(node.ID) + of(node.Attributes)
		for _, tp := range node.TPs {
			n += entry + len(tp.ID) + of(tp.Attributes)
		}
	}
	for _, l := range links {
		n += entry + len(l.ID) + len(l.SourceNode) + len(l.SourceTP) + len(l.DestNode) + len(l.DestTP) + of(l.Attributes)
	}
	return n
}

// retainFresh drops the topologies that a provider has not sent again.
func (m *Mirror) retainFresh(ctx context.Context, provider string, fresh map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	for id := range m.known[provider] {
		if !fresh[id] {
			m.drop(provider, id)
		}
	}
	if w := m.watched[provider]; w != nil {
		w.synced = true
	}
	m.publishView()
}

// publishView makes a new view. When two providers claim one id, the one whose name
// comes first is shown.
func (m *Mirror) publishView() {
	v := &View{
		Revision:   m.view.Load().Revision + 1,
		Topologies: map[string]topology.Topology{},
		Synced:     m.listed && m.waiting == 0,
		Sources:    map[string]string{},
		Running:    m.running,
		Versions:   maps.Clone(m.versions),
	}
	for _, w := range m.watched {
		v.Synced = v.Synced && w.synced
	}
	owner := v.Sources
	for name, all := range m.known {
		for id, t := range all {
			other, taken := owner[id]
			if taken {
				m.log.Warn(
					"two plugins publish one topology",
					"topology",
					id,
					"plugins",
					[]string{min(name, other), max(name, other)},
					"shown",
					min(name, other),
				)
			}
			if !taken || name < other {
				owner[id], v.Topologies[id] = name, t
			}
		}
	}
	m.view.Store(v)
	m.changed.Fire()
}
