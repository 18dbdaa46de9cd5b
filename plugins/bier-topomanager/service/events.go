package service

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/state"
)

// stream is the event stream of topologies.
const stream = "bier-topology"

// events publishes changes of topologies, one after the other, without holding up the
// projection that they are found in. Every node does it for its own subscribers.
type events struct {
	host *host.Client
	data *data
	wake chan struct{}

	mu         sync.Mutex
	topologies map[string]bool
	links      map[string]bool // paths
}

func newEvents(h *host.Client, d *data) *events {
	e := &events{
		host:       h,
		data:       d,
		wake:       make(chan struct{}, 1),
		topologies: map[string]bool{},
		links:      map[string]bool{},
	}
	for _, notify := range []func(func([]string)){d.Topologies.Notify, d.Nodes.Notify, d.Domains.Notify} {
		notify(func(paths []string) { e.noteChanged(paths, nil) })
	}
	d.Links.Notify(func(paths []string) { e.noteChanged(paths, paths) })
	return e
}

// noteChanged notes paths for run; nil, when the projection was built again, causes no event:
// what changed meanwhile shows when it is read.
func (e *events) noteChanged(paths, links []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range paths {
		e.topologies[e.data.Topologies.Keys(p)[0]] = true
	}
	for _, p := range links {
		e.links[p] = true
	}
	together.Notify(e.wake)
}

func (e *events) publishChanges(ctx context.Context) {
	before := e.data.Store.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		}
		e.mu.Lock()
		topologies, links := slices.Sorted(maps.Keys(e.topologies)), slices.Sorted(maps.Keys(e.links))
		clear(e.topologies)
		clear(e.links)
		e.mu.Unlock()
		now := e.data.Store.Now()
		for _, path := range links {
			e.publishLink(ctx, path, before, now)
		}
		for _, id := range topologies {
			e.sendEvent(ctx, "topo-change", map[string]string{"topo-id": id})
		}
		before = now
	}
}

type linkEvent struct {
	Topology string     `json:"topo-id"`
	Add      *bier.Link `json:"add-link,omitempty"`
	Remove   any        `json:"remove-link,omitempty"`
	Old      *bier.Link `json:"old-link,omitempty"`
	New      *bier.Link `json:"new-link,omitempty"`
}

func (e *events) publishLink(ctx context.Context, path string, before, now *state.Snapshot) {
	keys := e.data.Links.Keys(path)
	old, was := e.data.Links.Get(before, keys...)
	l, is := e.data.Links.Get(now, keys...)
	switch {
	case was && !is:
		e.sendEvent(
			ctx,
			"link-remove",
			linkEvent{
				Topology: keys[0],
				Remove:   map[string]string{"link-id": keys[1]},
			},
		)
	case is && !was:
		e.sendEvent(ctx, "link-add", linkEvent{
			Topology: keys[0],
			Add:      &l,
		})
	case was && old != l:
		e.sendEvent(ctx, "link-change", linkEvent{
			Topology: keys[0],
			Old:      &old,
			New:      &l,
		})
	}
}

func (e *events) sendEvent(ctx context.Context, name string, body any) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	err := e.host.Events.PublishHere(ctx, stream, "bier-topology-api:"+name, body)
	if err != nil && ctx.Err() == nil {
		slog.Warn("an event of a BIER topology is lost", "event", name, "error", err)
	}
}
