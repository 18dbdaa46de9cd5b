package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/host"
)

// router is one worker. Its fields, but those of the first group, are guarded by
// the engine's lock.
type router struct {
	e    *Engine
	node string
	kick chan struct{}

	desired *Desired // the last, nil before the first Want; a planner hands the same pointer on while nothing changes
	want    *Desired // what was compared or tried last, made
	intent  uint64   // revision at which want came to be
	// When want came to be, the last try began, and a try last confirmed that the router holds it.
	intended, sent, confirmed time.Time
	held                      string // hash of what was confirmed last
	answered                  uint64 // intent of the last try
	dirty                     bool
	retry                     bool // what is set aside is to be tried again
	running                   bool
	managed                   bool

	state  string
	reason string
	waits  string // why it is still pending
	driver string
	aside  map[string]string // channels that it refuses, and why
}

// setDesired takes in what the router must hold. The lock is held.
func (r *router) setDesired(d *Desired, revision uint64) {
	if r.desired == d {
		return
	}
	first := r.desired == nil
	r.desired = d
	if d.changed && !first { // work makes it
		r.intent, r.intended = revision, currentTime()
		together.Notify(r.kick)
		r.publishStatus()
		return
	}
	before := r.want
	if r.want = d.Made(); !first && before.Hash == d.Hash {
		return
	}
	s, ok := r.e.known[r.node]
	if first && ok && s.Hash == d.Hash { // it is what was wanted before, too
		r.intent, r.answered, r.state, r.reason, r.driver, r.dirty = s.Intent, s.Answered, s.State, s.Reason, s.Driver, true
		r.intended, r.sent, r.confirmed, r.aside = s.Intended, s.Sent, s.Confirmed, map[string]string{}
		for _, a := range s.Aside {
			for _, c := range a.Channels {
				r.aside[c] = a.Reason
			}
		}
		if len(d.Problems) > 0 && s.State == bier.Failed {
			r.state, r.reason = bier.Applied, "" // publish says the rest
		}
		together.Notify(r.kick)
		return
	}
	r.intent, r.intended = revision, currentTime()
	together.Notify(r.kick)
	if !isEmptyConfig(d.Config) || r.managed || len(d.Problems) > 0 {
		r.publishStatus()
	}
}

// markDirty has the router compared with what it must hold. The lock is held.
func (r *router) markDirty(revision uint64) {
	r.dirty = true
	together.Notify(r.kick)
	if revision > r.intent {
		r.intent, r.intended = revision, currentTime()
		r.publishStatus()
	}
}

// publishStatus hands on the state. The lock is held.
func (r *router) publishStatus() {
	s := bier.Status{
		Intent:    r.intent,
		Answered:  r.answered,
		State:     r.state,
		Reason:    r.reason,
		Driver:    r.driver,
		Hash:      r.want.Hash,
		Waits:     r.waits,
		Intended:  r.intended,
		Sent:      r.sent,
		Confirmed: r.confirmed,
		Aside:     r.setAside(),
	}
	problems := r.want.routerProblems()
	if s.State == bier.Applied && len(problems) > 0 {
		s.State, s.Reason = bier.Failed, strings.Join(problems, "; ")
	}
	if (s.State == bier.Applied || s.State == bier.Unverified) && s.Answered < s.Intent {
		s.State = bier.Pending
	}
	r.e.o.Status(r.node, &s)
}

// setAside lists the channels that the router does not hold, by the reason. The lock is held.
func (r *router) setAside() (out []bier.Aside) {
	by := map[string][]string{}
	for c, why := range r.aside {
		if slices.Contains(r.want.Channels, c) {
			by[why] = append(by[why], c)
		}
	}
	for _, l := range r.want.Lost {
		by[l.Reason] = append(by[l.Reason], l.Channel)
	}
	for _, why := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[why])
		out = append(out, bier.Aside{
			Reason:   why,
			Channels: slices.Compact(by[why]),
		})
	}
	return out
}

// reconcileLoop works until ctx ends or the router no longer belongs to the controller.
func (r *router) reconcileLoop(ctx context.Context) {
	pause := r.e.o.RetryMin
	var retry <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.kick:
		case <-retry:
		}
		retry = nil
		again, done := r.reconcileUntilCurrent(ctx)
		switch {
		case done:
			return
		case again:
			retry = time.After(pause)
			pause = min(2*pause, r.e.o.RetryMax)
		default:
			pause = r.e.o.RetryMin
		}
	}
}

// reconcileUntilCurrent tries until there is nothing new to try. again asks for another try after a
// pause; done ends the worker.
func (r *router) reconcileUntilCurrent(ctx context.Context) (again, done bool) {
	for {
		r.e.mu.Lock()
		want := r.desired
		r.e.mu.Unlock()
		want.Made()
		r.e.mu.Lock()
		if r.desired != want {
			r.e.mu.Unlock()
			continue
		}
		r.want = want
		intent, dirty := r.intent, r.dirty
		idle := r.answered == intent && !dirty && r.state == bier.Applied && !r.retry
		r.dirty = false
		if isEmptyConfig(want.Config) &&
			!r.managed { // never touched and nothing wanted: it is left alone
			idle, done = true, len(want.Problems) == 0
			if done {
				r.removeFromEngine()
			} else { // nothing can be done, and that is to be seen
				r.answered, r.state, r.reason = intent, bier.Applied, ""
				r.publishStatus()
			}
		}
		r.e.mu.Unlock()
		if idle {
			return false, done
		}
		began := time.Now()
		out := r.tryApply(ctx, want, intent)
		if ctx.Err() != nil {
			return false, true
		}
		if out.state == bier.Applied && isEmptyConfig(want.Config) {
			if err := r.e.o.Release(ctx, r.node); err == nil {
				r.e.mu.Lock()
				r.managed = false
				r.e.mu.Unlock()
			}
		}
		if r.recordOutcome(intent, want.Hash, out) {
			return out.retry, false
		}
		// Changes came during the try, so more are on their way: they are gathered, and go to
		// the router together. A router then spends at most a quarter of the time on tries.
		host.Pause(ctx, min(3*time.Since(began), maxGather))
	}
}

// maxGather bounds how long changes are gathered.
const maxGather = 50 * time.Millisecond

// removeFromEngine forgets the router. The lock is held.
func (r *router) removeFromEngine() {
	delete(r.e.routers, r.node)
	r.running = false
	r.e.o.Status(r.node, nil)
}

// recordOutcome notes a result; false when there is something newer to do.
func (r *router) recordOutcome(intent uint64, hash string, out outcome) bool {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	again := r.state == bier.Failed && r.reason == out.reason
	before := r.state == bier.Applied || r.state == bier.Unverified
	if out.state == bier.Pending && before && (r.answered == intent || r.held == hash) {
		out.state = bier.Unverified // a comparison that did not succeed: it has been applied before
	}
	news := r.newlyRefused(out)
	r.answered, r.state, r.reason, r.waits = intent, out.state, out.reason, out.waits
	if out.state == bier.Applied {
		r.confirmed, r.held, r.aside, r.retry = currentTime(), cmp.Or(out.held, hash), out.aside, out.retry
	}
	if out.driver != "" {
		r.driver = out.driver
	}
	if out.state == bier.Failed && !again {
		r.e.o.Report(r.node, out.reason)
	}
	for _, text := range news {
		r.e.o.Report(r.node, text)
	}
	r.publishStatus()
	return r.intent == intent &&
		!r.dirty &&
		(out.state != bier.Applied || !isEmptyConfig(r.want.Config) || r.managed)
}

// newlyRefused says which channels the router refuses now and did not before. The lock is held.
func (r *router) newlyRefused(out outcome) (text []string) {
	by := map[string][]string{}
	for c, why := range out.aside {
		if r.aside[c] != why {
			by[why] = append(by[why], c)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[why])
		text = append(
			text,
			fmt.Sprintf(
				"the router does not get %s (%s): %s",
				bier.Count(len(by[why]), "channel"),
				bier.Several(by[why]),
				why,
			),
		)
	}
	return text
}

// unseen is how long a try may take before it is shown that something was sent.
const unseen = time.Second

// publishAttempt shows that a try is under way.
func (r *router) publishAttempt(intent uint64) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.answered != intent {
		r.publishStatus()
	}
}

// currentTime is the time as it is stored.
func currentTime() time.Time {
	return time.Now().UTC().Truncate(time.Millisecond)
}

type outcome struct {
	state, reason, driver string
	retry                 bool
	waits                 string            // of pending: bier.NotTried or bier.Slow
	unreached             bool              // of failed: it is no answer of the router to the configuration
	aside                 map[string]string // of applied: the channels that it refuses
	held                  string            // of applied: the hash of what it has, where that is not all that is wanted
}

// tryApply applies once, and sets aside what the router refuses.
func (r *router) tryApply(ctx context.Context, want *Desired, intent uint64) outcome {
	target := r.e.o.Target(r.node)
	if target == nil {
		return outcome{
			state:  bier.Pending,
			reason: "no router is mounted as " + r.node,
		}
	}
	if r.e.slots.Acquire(ctx, 1) != nil {
		return outcome{state: bier.Pending}
	}
	defer r.e.slots.Release(1)
	r.e.mu.Lock()
	tried := r.answered == intent
	repair := r.e.o.Repair || !tried
	r.managed = true // from here on it may hold something
	r.sent = currentTime()
	held := r.held
	r.e.mu.Unlock()
	slow := time.AfterFunc(unseen, func() { r.publishAttempt(intent) })
	defer slow.Stop()
	first := true
	return r.bringToDesired(ctx, target, want, tried, func(d *Desired) outcome {
		out := r.applyDesired(ctx, target, d, repair, first && held == d.Hash) // whatever is different then, somebody else did
		first = false
		return out
	})
}

// applyDesired has a driver apply one configuration. drift: the router was seen to hold it.
func (r *router) applyDesired(
	ctx context.Context,
	target *bierdriver.Router,
	d *Desired,
	repair, drift bool,
) outcome {
	ctx, cancel := context.WithTimeout(ctx, r.e.o.Timeout)
	defer cancel()
	res, driver, err := r.e.o.Apply(ctx, target, d, !repair)
	waits := ""
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		waits = bier.Slow
	}
	if err != nil {
		return outcome{
			state:  bier.Pending,
			reason: err.Error(),
			driver: driver,
			retry:  true,
			waits:  waits,
		}
	}
	if drift && len(res.Edits) > 0 {
		r.e.o.Drift(r.node, repair && res.State == bierdriver.Applied)
	}
	switch res.State {
	case bierdriver.Applied:
		if !repair && len(res.Edits) > 0 {
			return outcome{
				state:     bier.Failed,
				reason:    "somebody else changed the router: " + strings.Join(res.Edits, ", "),
				driver:    driver,
				unreached: true,
			}
		}
		return outcome{state: bier.Applied, driver: driver}
	case bierdriver.Failed:
		switch s := res.GetSession(); {
		case s.GetState() != bierdriver.Down && s.GetState() != bierdriver.Refused:
			return outcome{
				state:  bier.Failed,
				reason: res.Reason,
				driver: driver,
				retry:  true,
			}
		case len(s.GetCapabilities()) > 0: // it was reached, and no driver is for it
			return outcome{
				state:     bier.Failed,
				reason:    res.Reason,
				driver:    driver,
				retry:     true,
				unreached: true,
			}
		} // else it refused the login or showed another host key: what it holds is not known
	}
	return outcome{
		state:  bier.Pending,
		reason: res.Reason,
		driver: driver,
		retry:  true,
		waits:  waits,
	}
}

func isEmptyConfig(c *bierdriver.Config) bool {
	return c.Global == nil && len(c.Channels) == 0
}
