package reconcile

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/bierdriver"
)

// Options are what an Engine works with.
type Options struct {
	// Target returns how a router is reached, nil when nobody said.
	Target func(node string) *bierdriver.Router
	// Apply chooses a driver and lets it apply. The error is trouble on the way.
	Apply func(ctx context.Context, r *bierdriver.Router, c *bierdriver.Config, dryRun bool) (res *bierdriver.Result, driver string, err error)
	// Manage keeps in mind, over restarts, that a router may hold something of ours.
	Manage func(ctx context.Context, node string, on bool) error
	// Report tells an operator.
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
	slots chan struct{}
	group sync.WaitGroup

	mu      sync.Mutex
	routers map[string]*router
	changed chan struct{}
	closed  bool
}

// New returns an engine; managed are the routers that may hold something of ours.
// Nothing is done to them before the first Want.
func New(ctx context.Context, o Options, managed []string) *Engine {
	e := &Engine{o: o, ctx: ctx, slots: make(chan struct{}, o.Parallel), routers: map[string]*router{}, changed: make(chan struct{})}
	for _, node := range managed {
		r := e.add(node)
		r.managed = true
	}
	return e
}

// add makes the entry of a router. The lock is held, or nobody else knows e.
func (e *Engine) add(node string) *router {
	r := &router{e: e, node: node, kick: make(chan struct{}, 1), want: &bierdriver.Config{}, state: bier.Pending}
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

// Want says what all routers must hold now.
func (e *Engine) Want(desired map[string]*bier.Desired) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	for node := range desired {
		if e.routers[node] == nil {
			e.add(node)
		}
	}
	for node, r := range e.routers {
		d := desired[node]
		if d == nil {
			d = &bier.Desired{Config: &bierdriver.Config{}}
		}
		r.wanted(d)
		if !r.running {
			r.running = true
			e.group.Go(func() { r.run(e.ctx) })
		}
	}
}

// Kick has a router looked at anew: it is reached otherwise, its driver or session
// came back, or somebody else changed it.
func (e *Engine) Kick(node string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.routers[node]; r != nil {
		r.doubt()
	}
}

// KickPending has the routers looked at that wait for something.
func (e *Engine) KickPending() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.routers {
		if r.state != bier.Applied {
			r.wake()
		}
	}
}

// KickAll has all routers compared with what they must hold.
func (e *Engine) KickAll() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.routers {
		r.doubt()
	}
}

// States returns the states of routers, of all when nodes is empty. One that must
// hold nothing is applied.
func (e *Engine) States(nodes []string) []bier.RouterState {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.states(nodes)
}

func (e *Engine) states(nodes []string) []bier.RouterState {
	if len(nodes) == 0 {
		nodes = slices.Sorted(maps.Keys(e.routers))
	}
	out := make([]bier.RouterState, 0, len(nodes))
	for _, node := range nodes {
		if r := e.routers[node]; r != nil {
			out = append(out, r.shown())
		} else {
			out = append(out, bier.RouterState{Node: node, State: bier.Applied})
		}
	}
	return out
}

// Settle waits until what is wanted of routers now was tried at each of them, or
// ctx ends, and returns their states. What is wanted later is not waited for: under a
// stream of changes there is always something.
func (e *Engine) Settle(ctx context.Context, nodes []string) []bier.RouterState {
	e.mu.Lock()
	if len(nodes) == 0 {
		nodes = slices.Sorted(maps.Keys(e.routers))
	}
	goals := make(map[string]goal, len(nodes))
	for _, node := range nodes {
		if r := e.routers[node]; r != nil {
			goals[node] = goal{r, r.wantSeq, r.doubts}
		}
	}
	e.mu.Unlock()
	for {
		e.mu.Lock()
		open := false
		for _, g := range goals {
			if !g.reached() {
				open = true
				break
			}
		}
		changed := e.changed
		var states []bier.RouterState
		if !open || ctx.Err() != nil {
			states = e.states(nodes)
			for i := range states {
				if g, ok := goals[states[i].Node]; ok && g.reached() && g.r == e.routers[states[i].Node] {
					states[i] = g.r.result()
				}
			}
		}
		e.mu.Unlock()
		if states != nil || len(nodes) == 0 {
			return states
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// goal is how far a router must be.
type goal struct {
	r            *router
	want, doubts int
}

// reached is also true for a router that is none of ours any more. The lock is held.
func (g goal) reached() bool {
	return g.r.e.routers[g.r.node] != g.r || g.r.tried >= g.want && g.r.cleared >= g.doubts
}

// tell wakes those who wait. The lock is held.
func (e *Engine) tell() {
	close(e.changed)
	e.changed = make(chan struct{})
}
