// Package reconcile brings routers to what they must hold and keeps them there: a
// worker a router, which applies, waits, and tries again. It knows no host and no
// driver; what it needs of them are the functions of Options.
package reconcile

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/bierdriver"
)

// Options are what an Engine works with.
type Options struct {
	// Target returns the access data of a router, nil if it is not mounted.
	Target func(node string) *bierdriver.Router
	// Apply chooses a driver and lets it apply a configuration. The error is trouble on the way.
	Apply func(ctx context.Context, r *bierdriver.Router, d *Desired, dryRun bool) (res *bierdriver.Result, driver string, err error)
	// Check says which channels a driver cannot write to a router, by name, without asking the router.
	// False: the driver cannot say. May be nil.
	Check func(ctx context.Context, r *bierdriver.Router, d *Desired) (refused map[string]string, known bool)
	// Read returns what a router holds, nil: not known. May be nil.
	Read func(ctx context.Context, r *bierdriver.Router) *bierdriver.Config
	// Release is called when a router holds nothing of ours any more.
	Release func(ctx context.Context, node string) error
	// Status takes the state of a router, nil when there is nothing more to say of it. It
	// must not wait.
	Status func(node string, s *bier.Status)
	// Drift is called when a router did not hold what it was seen to hold.
	Drift func(node string, repaired bool)
	// Report notifies an operator. It must not wait.
	Report func(node, text string)

	Timeout            time.Duration // of one Apply
	RetryMin, RetryMax time.Duration
	Parallel           int
	Repair             bool // else what others change is only reported
}

// Engine is the workers. It is safe for concurrent use.
type Engine struct {
	o     Options
	ctx   context.Context
	slots *semaphore.Weighted
	group sync.WaitGroup

	mu      sync.Mutex
	routers map[string]*router
	known   map[string]bier.Status
	wanted  bool // Want was called
	closed  bool
}

// New returns an engine; managed are the routers that may hold something of ours, known is
// what was found of routers so far. Nothing is done to them before the first Want.
func New(ctx context.Context, o Options, managed []string, known map[string]bier.Status) *Engine {
	e := &Engine{
		o:       o,
		ctx:     ctx,
		slots:   semaphore.NewWeighted(int64(o.Parallel)),
		routers: map[string]*router{},
		known:   known,
	}
	for _, node := range managed {
		e.addRouter(node).managed = true
	}
	return e
}

// addRouter makes the entry of a router. The lock is held, or no other goroutine has e.
func (e *Engine) addRouter(node string) *router {
	r := &router{
		e:     e,
		node:  node,
		kick:  make(chan struct{}, 1),
		state: bier.Pending,
		want:  &Desired{Config: &bierdriver.Config{}},
	}
	e.routers[node] = r
	return r
}

// Wait waits for the workers; the context of New must have ended.
func (e *Engine) Wait() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.group.Wait()
}

// Want says what all routers must hold, as configured at a revision; changed are those that
// must hold something else than at the call before, nil: not known.
func (e *Engine) Want(desired map[string]*Desired, changed map[string]bool, revision uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	if changed != nil && e.wanted {
		for node := range changed {
			if e.routers[node] == nil && desired[node] != nil {
				e.addRouter(node)
			}
			if r := e.routers[node]; r != nil {
				e.setRouterDesired(r, desired[node], revision)
			}
		}
		return
	}
	for node := range desired {
		if e.routers[node] == nil {
			e.addRouter(node)
		}
	}
	for node, s := range e.known { // of routers that are neither managed nor wanted any more
		if e.routers[node] == nil && s.Intent > 0 {
			e.o.Status(node, nil)
		}
	}
	for node, r := range e.routers {
		e.setRouterDesired(r, desired[node], revision)
	}
	e.known, e.wanted = nil, true
}

// setRouterDesired hands on what a router must hold, nil: nothing. The lock is held.
func (e *Engine) setRouterDesired(r *router, d *Desired, revision uint64) {
	if d == nil {
		d = &Desired{Config: &bierdriver.Config{}}
	}
	r.setDesired(d, revision)
	if !r.running {
		r.running = true
		e.group.Go(func() { r.reconcileLoop(e.ctx) })
	}
}

// Desired is what a router must hold, nil: it is not known here.
func (e *Engine) Desired(node string) *Desired {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.routers[node]; r != nil && r.desired != nil {
		return r.desired.Made()
	}
	return nil
}

// Kick has routers compared with what they must hold, all when nodes is nil: they are
// reached otherwise, a driver or session came back, or somebody else changed them. With a
// revision the result is an answer to what was asked for then.
func (e *Engine) Kick(nodes []string, revision uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if nodes == nil {
		for _, r := range e.routers {
			r.markDirty(revision)
		}
	}
	for _, node := range nodes {
		if r := e.routers[node]; r != nil {
			r.markDirty(revision)
		}
	}
}

// KickPending has the routers looked at that wait for something, or that refuse channels.
func (e *Engine) KickPending() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.routers {
		if len(r.aside) > 0 {
			r.dirty = true
		}
		if r.state != bier.Applied || r.dirty {
			together.Notify(r.kick)
		}
	}
}
