package reconcile

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/bierdriver"
)

// router is one worker. Its fields, but those of the first group, are guarded by
// the engine's lock.
type router struct {
	e    *Engine
	node string
	kick chan struct{}

	want     *bierdriver.Config // never changed, only replaced
	problems []string
	wantSeq  int // grows when want does
	tried    int // wantSeq of the last try
	dirty    bool
	doubts   int // grows each time it becomes dirty
	cleared  int // doubts before the last try
	running  bool
	managed  bool

	state  string
	reason string
	driver string
}

// wanted takes in what the router must hold. The lock is held.
func (r *router) wanted(d *bier.Desired) {
	if (len(r.problems) > 0) != (len(d.Problems) > 0) && empty(d.Config) {
		r.wake() // it is ours to show from now on, or no longer
	}
	r.problems = d.Problems
	if r.wantSeq > 0 && same(r.want, d.Config) {
		return
	}
	r.want = d.Config
	r.wantSeq++
	r.wake()
}

func (r *router) wake() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// doubt has the router compared with what it must hold. The lock is held.
func (r *router) doubt() {
	r.dirty = true
	r.doubts++
	r.wake()
}

// shown is the state for users. The lock is held.
func (r *router) shown() bier.RouterState {
	s := r.result()
	if s.State == bier.Applied && r.tried != r.wantSeq {
		s.State = bier.Pending
	}
	return s
}

// result is the state after the last try. The lock is held.
func (r *router) result() bier.RouterState {
	s := bier.RouterState{Node: r.node, State: r.state, Reason: r.reason, Driver: r.driver}
	if s.State == bier.Applied && len(r.problems) > 0 {
		s.State, s.Reason = bier.Failed, strings.Join(r.problems, "; ")
	}
	return s
}

// run works until ctx ends or the router is none of ours any more.
func (r *router) run(ctx context.Context) {
	pause := r.e.o.RetryMin
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.kick:
		case <-timer.C:
		}
		timer.Stop()
		again, done := r.work(ctx)
		switch {
		case done:
			return
		case again:
			timer.Reset(pause)
			pause = min(2*pause, r.e.o.RetryMax)
		default:
			pause = r.e.o.RetryMin
		}
	}
}

// work tries until there is nothing new to try. again asks for another try after a
// pause; done ends the worker.
func (r *router) work(ctx context.Context) (again, done bool) {
	for {
		r.e.mu.Lock()
		seq, want, dirty, doubts := r.wantSeq, r.want, r.dirty, r.doubts
		idle := r.tried == seq && !dirty && r.state == bier.Applied
		// A router that we never touched and want nothing of is left alone.
		stranger := empty(want) && !r.managed
		r.dirty = false

		switch {
		case stranger && len(r.problems) > 0: // nothing can be done, and that is to be seen
			idle = true
			r.tried, r.cleared, r.state, r.reason = seq, doubts, bier.Applied, ""
			r.e.tell()
		case stranger:
			idle, done = false, r.leave(seq)
		}
		r.e.mu.Unlock()
		if idle || done {
			return false, done
		}
		if stranger {
			continue
		}
		began := time.Now()
		out := r.try(ctx, want)
		if ctx.Err() != nil {
			return false, true
		}
		if out.state == bier.Applied && empty(want) {
			if err := r.e.o.Manage(ctx, r.node, false); err == nil {
				r.e.mu.Lock()
				r.managed = false
				r.e.mu.Unlock()
			}
		}
		if r.settle(seq, doubts, out) {
			return out.state != bier.Applied && out.retry, false
		}
		// Changes came during the try, so more are on their way: as long as one try
		// takes they are gathered, and go to the router together.
		gather(ctx, min(time.Since(began), maxGather))
	}
}

// maxGather bounds how long changes are gathered.
const maxGather = 100 * time.Millisecond

func gather(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// leave forgets the router, unless something is wanted of it again. The lock is held.
func (r *router) leave(seq int) bool {
	if r.wantSeq != seq {
		return false
	}
	delete(r.e.routers, r.node)
	r.running = false
	r.e.tell()
	return true
}

// settle notes a result; false when there is something newer to do.
func (r *router) settle(seq, doubts int, out outcome) bool {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	told := r.state == bier.Failed && r.reason == out.reason
	r.tried, r.cleared, r.state, r.reason = seq, doubts, out.state, out.reason
	if out.driver != "" {
		r.driver = out.driver
	}
	if out.state == bier.Failed && !told {
		r.e.o.Report(r.node, out.reason)
	}
	r.e.tell()
	return r.wantSeq == seq && !r.dirty && (out.state != bier.Applied || !empty(r.want) || r.managed)
}

type outcome struct {
	state, reason, driver string
	retry                 bool
}

// try applies once.
func (r *router) try(ctx context.Context, want *bierdriver.Config) outcome {
	target := r.e.o.Target(r.node)
	if target == nil {
		return outcome{state: bier.Pending, reason: "no router is mounted as " + r.node}
	}
	select {
	case r.e.slots <- struct{}{}:
		defer func() { <-r.e.slots }()
	case <-ctx.Done():
		return outcome{state: bier.Pending}
	}
	r.e.mu.Lock()
	managed, repair := r.managed, r.e.o.Repair || r.tried != r.wantSeq
	r.e.mu.Unlock()
	if !managed {
		if err := r.e.o.Manage(ctx, r.node, true); err != nil {
			return outcome{state: bier.Pending, reason: "the controller cannot keep in mind that it configures the router: " + err.Error(), retry: true}
		}
		r.e.mu.Lock()
		r.managed = true
		r.e.mu.Unlock()
	}
	ctx, cancel := context.WithTimeout(ctx, r.e.o.Timeout)
	defer cancel()
	res, driver, err := r.e.o.Apply(ctx, target, want, !repair)
	if err != nil {
		return outcome{bier.Pending, err.Error(), driver, true}
	}
	switch res.State {
	case bierdriver.Applied:
		if !repair && len(res.Edits) > 0 {
			return outcome{bier.Failed, "somebody else changed the router: " + strings.Join(res.Edits, ", "), driver, false}
		}
		return outcome{bier.Applied, "", driver, false}
	case bierdriver.Failed:
		return outcome{bier.Failed, res.Reason, driver, true}
	}
	return outcome{bier.Pending, res.Reason, driver, true}
}

func empty(c *bierdriver.Config) bool { return c.Global == nil && len(c.Channels) == 0 }

// same compares two configurations in the order of the contract. Most of a thousand
// routers are not concerned by a change, so it must cost little.
func same(a, b *bierdriver.Config) bool {
	return proto.Equal(a.Global, b.Global) && slices.EqualFunc(a.Channels, b.Channels, func(x, y *bierdriver.Channel) bool {
		return x.VpnId == y.VpnId && x.SourceAddress == y.SourceAddress && x.GroupAddress == y.GroupAddress && x.SourceWildcard == y.SourceWildcard &&
			x.GroupWildcard == y.GroupWildcard && x.SubDomain == y.SubDomain && x.IngressBfrId == y.IngressBfrId && x.Role == y.Role &&
			slices.Equal(x.EgressBfrIds, y.EgressBfrIds)
	}) && slices.EqualFunc(a.Members, b.Members, func(x, y *bierdriver.Member) bool {
		return x.SubDomainId == y.SubDomainId && x.BfrId == y.BfrId && x.Ipv4BfrPrefix == y.Ipv4BfrPrefix && x.Ipv6BfrPrefix == y.Ipv6BfrPrefix
	})
}
