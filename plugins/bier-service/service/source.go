package service

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"ctl.internal/plugins/bier-service/reconcile"
	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// channelsKey is there once the plugin of channels was: from then on its absence
// means that nothing is known of channels, not that there are none.
const channelsKey = "seen/channels"

// source reads topologies and channels, and tells the engine what routers must hold.
type source struct {
	host   *host.Client
	engine *reconcile.Engine

	gate sync.Mutex
	next *reading // that has not begun yet; gate guards it

	mu         sync.Mutex // held while one reads
	rest       time.Time  // a reading before that would follow too closely
	topologies bier.TopologyView
	channels   bier.ChannelView
	seen       bool
}

// reading is one look at topologies and channels, for all who asked before it began.
type reading struct {
	done chan struct{}
	err  error
}

// refresh reads what is new. Those who ask while somebody reads wait for the next
// reading, which is one for all of them: many deployments at a time become one.
func (s *source) refresh(ctx context.Context) error {
	s.gate.Lock()
	r := s.next
	if r != nil {
		s.gate.Unlock()
		select {
		case <-r.done:
			return r.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r = &reading{done: make(chan struct{})}
	s.next = r
	s.gate.Unlock()

	s.mu.Lock()
	gather(ctx, time.Until(s.rest))
	s.gate.Lock()
	s.next = nil // whoever comes now may have changed what is read already
	s.gate.Unlock()
	began := time.Now()
	r.err = s.read(context.WithoutCancel(ctx)) // others wait for it too
	s.rest = time.Now().Add(min(4*time.Since(began), maxRest))
	s.mu.Unlock()
	close(r.done)
	return r.err
}

// maxRest bounds how long a reading waits for more who ask, when it would follow
// another closely: under many deployments, looking takes a fifth of the time.
const maxRest = 100 * time.Millisecond

// read tells the engine nothing unless both are known. The lock is held.
func (s *source) read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	t, err := bier.ReadTopologies(ctx, s.host.Operations, "", s.topologies.Revision)
	if err != nil {
		return err
	}
	c, err := s.readChannels(ctx)
	if err != nil {
		return err
	}
	if t.Topologies == nil && c.Channels == nil {
		return nil
	}
	if t.Topologies != nil {
		s.topologies = t
	}
	if c.Channels != nil {
		s.channels = c
	}
	n := bier.Network{Topologies: s.topologies.Topologies.List, Channels: s.channels.Channels.ByTopology}
	s.engine.Want(n.Desired())
	return nil
}

// errNoChannels is not fault.NotFound: that says that the service itself is missing.
var errNoChannels = fault.New(fault.Unavailable, "which channels there are is not known until ctl-bier-channel is installed again; routers stay as they are")

func (s *source) readChannels(ctx context.Context) (bier.ChannelView, error) {
	c, err := bier.ReadChannels(ctx, s.host.Operations, s.channels)
	switch {
	case err == nil && !s.seen:
		err = s.host.Datastore.Put(ctx, channelsKey, []byte("{}"))
		s.seen = err == nil
		return c, err
	case err == nil || fault.KindOf(err) != fault.NotFound:
		return c, err
	case s.seen:
		return c, errNoChannels
	}
	if _, e := s.host.Datastore.Get(ctx, host.Private, channelsKey); fault.KindOf(e) != fault.NotFound || e == nil {
		return c, errNoChannels
	}
	if s.channels.Channels == nil {
		return bier.ChannelView{Channels: &bier.Channels{}}, nil
	}
	return bier.ChannelView{}, nil
}

// follow looks at intervals, compares routers at longer ones, and at once when
// something is told.
func (s *Service) follow(ctx context.Context) {
	poll := time.NewTicker(s.times.poll)
	defer poll.Stop()
	var audit <-chan time.Time
	if s.times.audit > 0 {
		t := time.NewTicker(s.times.audit)
		defer t.Stop()
		audit = t.C
	}
	last := ""
	for {
		began := time.Now()
		err := s.source.refresh(ctx)
		rest := max(gathering, 4*time.Since(began)) // looking at a large network must not be all that is done
		if text := errorText(err); text != last && ctx.Err() == nil {
			last = text
			if err != nil {
				slog.Warn("routers are left as they are: topologies or channels are not known", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
			gather(ctx, rest)
		case <-s.nudge:
			gather(ctx, rest)
		case <-audit:
			s.engine.KickAll()
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// gathering is how long changes that come one after the other are gathered, at least.
const gathering = 50 * time.Millisecond

func gather(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// listen has topologies looked at when they change.
func (s *Service) listen(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.host.Events.Subscribe(ctx, []string{"bier-topology"}, func(host.Received) error {
			select {
			case s.nudge <- struct{}{}:
			default:
			}
			return nil
		})
		if ctx.Err() == nil {
			slog.Debug("changes of topologies are not told; looking at intervals", "err", err)
			t := time.NewTimer(s.times.poll)
			select {
			case <-ctx.Done():
			case <-t.C:
			}
			t.Stop()
		}
	}
}
