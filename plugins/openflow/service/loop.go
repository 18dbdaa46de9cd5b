package service

import (
	"context"
	"log/slog"
	"time"

	"ctl.internal/plugins/openflow/channel"
	"ctl.internal/plugins/openflow/discovery"
	"ctl.internal/plugins/openflow/ofp13"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/topology"
)

const (
	tick = 100 * time.Millisecond
	// calm is the least time between two views: many switches at once are one change.
	calm = 20 * time.Millisecond
	// observedEvery is how often it is said that nothing has changed.
	observedEvery = 5 * time.Second
	// farewell is the longest time that switches have to remove the rules.
	farewell = 3 * time.Second
)

// loop owns the core: no other goroutine uses it.
type loop struct {
	core      *discovery.Core
	server    *channel.Server
	publish   func(topology.Topology, []discovery.Switch)
	log       *slog.Logger
	asks      chan func(*discovery.Core)
	leaving   chan struct{} // closed: remove the rules and end
	done      chan struct{}
	frame     []byte
	pending   bool
	published time.Time // newest view
}

func newLoop(
	core *discovery.Core,
	server *channel.Server,
	publish func(topology.Topology, []discovery.Switch),
	log *slog.Logger,
) *loop {
	return &loop{
		core:    core,
		server:  server,
		publish: publish,
		log:     log,
		asks:    make(chan func(*discovery.Core)),
		leaving: make(chan struct{}),
		done:    make(chan struct{}),
	}
}

func (l *loop) run(ctx context.Context) {
	defer close(l.done)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	quiet := time.NewTimer(time.Hour)
	defer quiet.Stop()
	leaving := l.leaving
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-l.server.Events():
			l.handleEvent(e)
		case now := <-ticker.C:
			l.core.Tick(now)
		case <-quiet.C:
		case f := <-l.asks:
			f(l.core)
		case <-leaving:
			leaving = nil
			l.core.Leave(time.Now())
		}
		l.executeActions()
		if leaving == nil {
			if l.core.Left() == 0 {
				return
			}
			continue
		}
		now := time.Now()
		// Switches that do not answer are given up, so those that are there were heard a moment ago.
		l.pending = l.core.Changed() || l.pending || now.Sub(l.published) >= observedEvery
		if !l.pending {
			continue
		}
		if wait := calm - now.Sub(l.published); wait > 0 {
			quiet.Reset(wait)
			continue
		}
		l.publish(l.core.View(now), l.core.Switches())
		l.published, l.pending = now, false
	}
}

func (l *loop) handleEvent(e channel.Event) {
	now := time.Now()
	id := discovery.ConnID(e.Conn)
	switch e.Kind {
	case channel.Opened:
		l.core.Opened(id, e.Remote, now)
	case channel.Received:
		l.core.Received(id, e.Header, e.Message, now)
	case channel.Closed:
		l.core.Closed(id, e.Reason, now)
	}
}

// executeActions carries out what the core decided.
func (l *loop) executeActions() {
	for _, a := range l.core.Take() {
		if a.Message != nil {
			l.frame = ofp13.Append(l.frame[:0], a.XID, a.Message)
			if a.Version != 0 { // of an ERROR that refuses a HELLO, which is the same in all versions
				l.frame[0] = a.Version
			}
			l.server.Send(uint64(a.Conn), l.frame, a.Droppable)
		}
		if a.Text != "" {
			l.log.Log(context.Background(), a.Level, "switch: "+a.Text, "remote", a.Remote)
		}
		if a.Close {
			l.server.End(uint64(a.Conn))
		}
	}
}

// askCore lets f see the core.
func (l *loop) askCore(ctx context.Context, f func(*discovery.Core)) error {
	ready := make(chan struct{})
	select {
	case l.asks <- func(c *discovery.Core) { f(c); close(ready) }:
		<-ready
		return nil
	case <-l.done:
		return fault.New(fault.Unavailable, "the plugin stops")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// shutdownLoop removes the rules and ends the loop, or gives up when the time is over.
func (l *loop) shutdownLoop(ctx context.Context) {
	wait := farewell
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end)*3/4)
	}
	close(l.leaving)
	select {
	case <-l.done:
	case <-time.After(wait):
		l.log.Warn("some switches did not confirm in time that the rules are removed")
	case <-ctx.Done():
	}
}
