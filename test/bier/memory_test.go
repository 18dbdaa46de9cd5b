// A driver of BIER routers that live in memory: the model that the tests use, and the shortest example of a driver.

package bier

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// memoryCapability is what the routers announce.
const memoryCapability = "urn:example:memory:1.0"

// memoryRouters is a set of routers and the driver of them. It is safe for concurrent use.
type memoryRouters struct {
	// Description is what the driver announces; set it before use.
	Description bierdriver.Description

	mu      sync.Mutex
	routers map[string]*memoryRouter
	changed chan struct{}
}

type memoryRouter struct {
	config  *bierdriver.Config
	up      bool
	locked  bool   // refuses every login
	refuse  string // reason of refusing every change; empty = takes them
	cannot  string // beginning of groups of channels that its model has no place for; empty = none
	applies int
	edits   int
	drift   []*bierdriver.Drift
	notes   []*bierdriver.Notification
	version int
}

// newMemoryRouters returns a lab whose routers come into being, up, when they are first named.
func newMemoryRouters() *memoryRouters {
	return &memoryRouters{routers: map[string]*memoryRouter{}, changed: make(chan struct{}),
		Description: bierdriver.Description{Capabilities: []string{memoryCapability}, Dialects: []string{"memory"}, Probes: true}}
}

func (l *memoryRouters) at(id string) *memoryRouter {
	r := l.routers[id]
	if r == nil {
		r = &memoryRouter{config: &bierdriver.Config{}, up: true}
		l.routers[id] = r
	}
	return r
}

// change lets f change a router and wakes the watchers.
func (l *memoryRouters) change(id string, f func(*memoryRouter)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l.at(id))
	l.wake()
}

func (l *memoryRouters) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Up makes a router answer or not. It keeps its configuration.
func (l *memoryRouters) Up(id string, up bool) {
	l.change(id, func(r *memoryRouter) { r.up = up; r.version++ })
}

// Lock makes a router refuse every login, as one with another host key; false = it takes them again.
func (l *memoryRouters) Lock(id string, locked bool) {
	l.change(id, func(r *memoryRouter) { r.locked = locked; r.version++ })
}

// Refuse makes a router refuse changes with a reason; "" = it takes them again.
func (l *memoryRouters) Refuse(id, reason string) {
	l.change(id, func(r *memoryRouter) { r.refuse = reason })
}

// Cannot makes a router of a model that has no place for channels whose group begins so; "" = it has one for all.
func (l *memoryRouters) Cannot(id, group string) {
	l.change(id, func(r *memoryRouter) { r.cannot = group })
}

// unable says why a router cannot have a channel, "" if it can.
func (r *memoryRouter) unable(c *bierdriver.Channel) string {
	if r.cannot != "" && strings.HasPrefix(c.GroupAddress, r.cannot) {
		return "this model has no groups that begin with " + r.cannot
	}
	return ""
}

// checkingRouters is the driver with what drivers may have besides: it knows what it cannot write.
type checkingRouters struct{ *memoryRouters }

// Check implements bierdriver.Checker.
func (l checkingRouters) Check(_ context.Context, q *bierdriver.Router, c *bierdriver.Config) (*bierdriver.Checked, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := &bierdriver.Checked{}
	for i, x := range c.GetChannels() {
		if why := l.at(q.NodeId).unable(x); why != "" {
			out.Channels = append(out.Channels, &bierdriver.Refusal{Channel: uint32(i), Reason: why})
		}
	}
	return out, nil
}

// deliveringRouters is the driver with routers that count what they deliver.
type deliveringRouters struct {
	*memoryRouters
	deliveries *deliveries
}

// deliveries is what routers count. A router that sends gets a packet with each question.
type deliveries struct {
	mu     sync.Mutex
	counts map[string]uint64
	stuck  map[string]bool // routers that count no more packets
	ports  map[string][]string
}

// Delivery implements bierdriver.Deliverer.
func (l deliveringRouters) Delivery(_ context.Context, q *bierdriver.Router, channels []*bierdriver.Channel) (out []*bierdriver.Delivery, _ error) {
	d := l.deliveries
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stuck[q.NodeId] {
		d.counts[q.NodeId]++
	}
	for _, c := range channels {
		x := &bierdriver.Delivery{HasCounters: true, Packets: d.counts[q.NodeId]}
		if c.Role == bierdriver.Egress {
			x.HasReceivers, x.Receivers = true, d.ports[q.NodeId]
			if len(x.Receivers) == 0 {
				x.ByHand = []string{"join " + c.GroupAddress}
			}
		}
		out = append(out, x)
	}
	return out, nil
}

// Stick makes a router count no more packets, or again.
func (d *deliveries) Stick(id string, stuck bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stuck[id] = stuck
}

// Join gives a router ports with receivers.
func (d *deliveries) Join(id string, ports ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ports[id] = ports
}

// Wipe makes a router lose its configuration, as one that was replaced.
func (l *memoryRouters) Wipe(id string) {
	l.change(id, func(r *memoryRouter) { r.config = &bierdriver.Config{}; r.version++ })
}

// Touch changes a router's configuration without the controller.
func (l *memoryRouters) Touch(id, by string, f func(*bierdriver.Config)) {
	l.change(id, func(r *memoryRouter) {
		f(r.config)
		bierdriver.Canonical(r.config)
		r.drift = append(r.drift, &bierdriver.Drift{By: by, At: timestamppb.Now()})
	})
}

// Notify makes a router send a notification.
func (l *memoryRouters) Notify(id string, n *bierdriver.Notification) {
	l.change(id, func(r *memoryRouter) { r.notes = append(r.notes, n) })
}

// Config returns a copy of what a router holds.
func (l *memoryRouters) Config(id string) *bierdriver.Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	return proto.CloneOf(l.at(id).config)
}

// Counts returns how often a router was asked to change, and by how many edits.
func (l *memoryRouters) Counts(id string) (applies, edits int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at(id).applies, l.at(id).edits
}

// IDs lists the routers there are, ascending.
func (l *memoryRouters) IDs() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.routers))
}

// Changed is closed at the next change of any router.
func (l *memoryRouters) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Describe implements bierdriver.Driver.
func (l *memoryRouters) Describe() bierdriver.Description { return l.Description }

func memorySession(r *memoryRouter) *bierdriver.Session {
	if !r.up {
		return &bierdriver.Session{State: bierdriver.Down, Reason: "the router does not answer"}
	}
	if r.locked {
		return &bierdriver.Session{State: bierdriver.Refused, Reason: "the router shows another host key"}
	}
	return &bierdriver.Session{State: bierdriver.Up, Capabilities: []string{memoryCapability}, HostKey: "memory-key", Dialect: "memory"}
}

// Probe implements bierdriver.Driver.
func (l *memoryRouters) Probe(_ context.Context, q *bierdriver.Router) (*bierdriver.Probe, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.at(q.NodeId)
	s := memorySession(r)
	ok := s.State == bierdriver.Up
	return &bierdriver.Probe{Supported: ok, Reached: ok, Reason: s.Reason, Session: s}, nil
}

// Apply implements bierdriver.Driver.
func (l *memoryRouters) Apply(ctx context.Context, q *bierdriver.Router, c *bierdriver.Config, permit bierdriver.Permit) (*bierdriver.Result, error) {
	want := proto.CloneOf(c)
	bierdriver.Canonical(want)
	var asked *bierdriver.Config // what the router held when the permit was given
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.at(q.NodeId)
	for permit != nil && asked != r.config && len(configDiff(r.config, want)) > 0 {
		asked = r.config
		l.mu.Unlock()
		_, err := permit.Begin(ctx, "")
		if err == nil {
			err = permit.Commit(ctx)
		}
		l.mu.Lock()
		if err != nil {
			return &bierdriver.Result{State: bierdriver.Pending, Reason: err.Error()}, nil
		}
	}
	out := &bierdriver.Result{State: bierdriver.Applied, Session: memorySession(r)}
	if out.Session.State != bierdriver.Up {
		out.State, out.Reason = bierdriver.Pending, out.Session.Reason
		return out, nil
	}
	for _, x := range want.Channels {
		if why := r.unable(x); why != "" {
			out.State, out.Reason = bierdriver.Failed, why
			return out, nil
		}
	}
	edits := configDiff(r.config, want)
	out.Edits = edits
	switch {
	case permit == nil || len(edits) == 0:
	case r.refuse != "":
		out.State, out.Reason, out.Edits = bierdriver.Failed, r.refuse, nil
	default:
		r.applies++
		r.edits += len(edits)
		r.config = want
		l.wake()
	}
	return out, nil
}

// Read implements bierdriver.Driver.
func (l *memoryRouters) Read(_ context.Context, q *bierdriver.Router) (*bierdriver.Observed, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.at(q.NodeId)
	if !r.up {
		return nil, fault.Device(fault.Unavailable, "the router %s does not answer", q.NodeId)
	}
	return &bierdriver.Observed{Config: proto.CloneOf(r.config), Session: memorySession(r)}, nil
}

// Watch implements bierdriver.Driver.
func (l *memoryRouters) Watch(ctx context.Context, q *bierdriver.Router, emit func(*bierdriver.Event) error) error {
	version := -1
	for {
		l.mu.Lock()
		r, changed := l.at(q.NodeId), l.changed
		e, done := r.next(&version)
		l.mu.Unlock()
		if e != nil {
			if err := emit(e); err != nil {
				return fmt.Errorf("reporting router %s: %w", q.NodeId, err)
			}
			l.mu.Lock()
			done()
			l.mu.Unlock()
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// next returns what a watcher that has seen a version gets next, and what
// to do once that was sent.
func (r *memoryRouter) next(version *int) (e *bierdriver.Event, sent func()) {
	switch {
	case r.version != *version:
		now := r.version
		return &bierdriver.Event{Session: memorySession(r)}, func() { *version = now }
	case len(r.drift) > 0:
		return &bierdriver.Event{Drift: r.drift[0]}, func() { r.drift = r.drift[1:] }
	case len(r.notes) > 0:
		return &bierdriver.Event{Notification: r.notes[0]}, func() { r.notes = r.notes[1:] }
	}
	return nil, nil
}
