package service

import (
	"context"
	"log/slog"
	"time"

	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/host"
)

// stream is the event stream of topologies.
const stream = "bier-topology"

// waiting is how many changes may wait to be told.
const waiting = 256

// events tells of changes, one after the other, without holding up who made them.
type events struct {
	host  *host.Client
	queue chan *model.Change
	shown chan struct{} // a change that publish has not seen
}

func newEvents(h *host.Client) *events {
	return &events{host: h, queue: make(chan *model.Change, waiting), shown: make(chan struct{}, 1)}
}

func (e *events) changed(c *model.Change) {
	select {
	case e.shown <- struct{}{}:
	default:
	}
	select {
	case e.queue <- c:
	default:
		slog.Warn("events of BIER topologies are lost: the host does not take them", "topology", c.Topology)
	}
}

func (e *events) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-e.queue:
			e.tell(ctx, c)
		}
	}
}

type linkEvent struct {
	Topology string     `json:"topo-id"`
	Add      *bier.Link `json:"add-link,omitempty"`
	Remove   any        `json:"remove-link,omitempty"`
	Old      *bier.Link `json:"old-link,omitempty"`
	New      *bier.Link `json:"new-link,omitempty"`
}

func (e *events) tell(ctx context.Context, c *model.Change) {
	changed := map[string]bool{}
	for _, l := range c.ChangedLink {
		changed[l.New.ID] = true
		e.send(ctx, "link-change", linkEvent{Topology: c.Topology, Old: l.Old, New: l.New})
	}
	for _, l := range c.PutLinks {
		if !changed[l.ID] {
			e.send(ctx, "link-add", linkEvent{Topology: c.Topology, Add: l})
		}
	}
	for _, id := range c.DelLinks {
		e.send(ctx, "link-remove", linkEvent{Topology: c.Topology, Remove: map[string]string{"link-id": id}})
	}
	e.send(ctx, "topo-change", map[string]string{"topo-id": c.Topology})
}

func (e *events) send(ctx context.Context, name string, data any) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := e.host.Events.Publish(ctx, stream, "bier-topology-api:"+name, data); err != nil && ctx.Err() == nil {
		slog.Warn("an event of a BIER topology is lost", "event", name, "err", err)
	}
}
