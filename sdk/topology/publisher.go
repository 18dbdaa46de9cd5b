package topology

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Publisher is a Source fed with whole views: Set compares each with the one
// before and wakes the watchers. The zero Publisher is ready to use and safe for
// concurrent use.
type Publisher struct {
	mu       sync.Mutex
	views    map[string]Topology
	watchers map[chan struct{}]struct{} // each wakes a Watch, which makes one change of all that came meanwhile
}

// Set replaces the view of the topology t.ID. A source that looked again and saw the same sets
// it with the newer time of observation, which watchers hear of, too. The Publisher keeps t's maps: do not
// change them afterwards.
func (p *Publisher) Set(t Topology) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.views == nil {
		p.views = map[string]Topology{}
	}
	p.views[t.ID] = t
	p.notifyWatchers()
}

// Remove drops a topology.
func (p *Publisher) Remove(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.views, id)
	p.notifyWatchers()
}

// Get returns the newest view of a topology.
func (p *Publisher) Get(id string) (Topology, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.views[id]
	return t, ok
}

func (p *Publisher) notifyWatchers() {
	for wake := range p.watchers {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// Watch implements Source.
func (p *Publisher) Watch(
	ctx context.Context,
	ids []string,
	f func(Change) error,
	synced func(),
) error {
	wake := make(chan struct{}, 1)
	p.mu.Lock()
	if p.watchers == nil {
		p.watchers = map[chan struct{}]struct{}{}
	}
	p.watchers[wake] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.watchers, wake)
		p.mu.Unlock()
	}()
	seen := map[string]Topology{}
	for first := true; ; first = false {
		p.mu.Lock()
		now := maps.Clone(p.views)
		p.mu.Unlock()
		if err := deliverChanges(seen, now, ids, f); err != nil {
			return err
		}
		if first && synced != nil {
			synced()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wake:
		}
	}
}

// observedEvery is how often watchers hear that a topology was observed as it was.
const observedEvery = 5 * time.Second

func deliverChanges(seen, now map[string]Topology, ids []string, f func(Change) error) error {
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		if _, ok := now[id]; !ok {
			delete(seen, id)
			if err := f(Change{
				TopologyID: id,
				Removed:    true,
			}); err != nil {
				return err
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		if len(ids) > 0 && !slices.Contains(ids, id) {
			continue
		}
		old, known := seen[id]
		change, differs := Diff(old, now[id])
		switch {
		case !known:
			change = newSnapshotChange(now[id])
		case !differs && now[id].Observed.Sub(old.Observed) < observedEvery:
			continue
		}
		seen[id] = now[id]
		if err := f(change); err != nil {
			return err
		}
	}
	return nil
}
