package cluster

import (
	"context"
	"sync"
	"time"

	"ctl.internal/host/internal/plugin/events"
)

// What waits for a node that is slow, and the time that one event has to get there.
const (
	eventQueue = 1024
	eventTime  = 2 * time.Second
)

// carryEvents brings what plugins publish on this node to the subscribers of each other
// node, as long as that is alive.
func (n *Node) carryEvents(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	alive := map[string]context.CancelFunc{}
	for {
		changed := n.o.Roles.Changed()
		now := map[string]bool{}
		for _, m := range n.o.Roles.Members() {
			if m.ID == n.o.Identity.ID || m.Address == "" {
				continue
			}
			if now[m.ID] = true; alive[m.ID] == nil {
				during, cancel := context.WithCancel(ctx)
				alive[m.ID] = cancel
				queue := n.o.Bus.Carried(eventQueue)
				work.Go(func() { n.carryTo(during, m.ID, queue) })
			}
		}
		for id, cancel := range alive {
			if !now[id] {
				cancel()
				delete(alive, id)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done(): // which ends those of all nodes
			return
		}
	}
}

// carryTo sends events to a node, in order. Like a subscriber that is too slow, a node that
// cannot be reached loses some.
func (n *Node) carryTo(ctx context.Context, id string, queue *events.Subscription) {
	defer queue.Close()
	for lost := uint64(0); ; {
		e, err := queue.Next(ctx)
		if err != nil {
			return
		}
		lost += e.Lost
		call, cancel := context.WithTimeout(ctx, eventTime)
		if err = n.askNode(call, id, methodEvent, e, &struct{}{}); err != nil {
			lost++
			n.o.Log.Debug(
				"an event did not reach another node",
				"node",
				id,
				"stream",
				e.Stream,
				"error",
				err,
			)
		} else if lost > 0 {
			n.o.Log.Warn(
				"events for the subscribers of another node are lost",
				"node",
				id,
				"events",
				lost,
			)
			lost = 0
		}
		cancel()
	}
}
