package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/internal/together"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// supervisor keeps one plugin running. The machine decides; the supervisor does.
type supervisor struct {
	m          *Manager
	name       string
	log        *slog.Logger
	dir        string // private, for sockets
	services   *hostsvc.Server
	callers    callers
	stats      stats
	calls      *bulkhead
	watches    atomic.Int64
	metrics    atomic.Pointer[string] // why the newest metrics cannot be used; empty = they can
	logDropped atomic.Uint64
	disk       atomic.Int64 // bytes of its files when the disk was last not full
	stuck      atomic.Bool  // calls are not answered; the health is degraded for that
	following  sync.Mutex   // held while the process is replaced for a file

	// cur is the process that gets the calls, nil if there is no such process. It is read
	// without a lock on the way of each call.
	cur        atomic.Pointer[instance]
	manifest   atomic.Pointer[pluginv1.Manifest] // newest known, also while it is down
	operations map[string]operation              // of manifest, by module:rpc; under the manager's mu
	described  atomic.Pointer[pluginv1.Manifest] // the newest, whether it may run or not
	requests   atomic.Pointer[[]grant.Request]   // of the newest process that was described
	generation atomic.Uint64
	// ordered is the number, among all orders there were, of the newest that concerned
	// this plugin; see Manager.Ordered.
	ordered atomic.Uint64

	single  single          // of a plugin that runs on one node
	standby atomic.Bool     // it runs on another node
	ctx     context.Context // ends when the plugin is removed
	cancel  context.CancelFunc
	work    sync.WaitGroup

	mu          sync.Mutex
	spec        Spec
	machine     machine
	active      *instance // whose end concerns the machine
	startCancel context.CancelFunc
	outcome     outcome
	changed     together.Signal
	last        *instance // newest, also after its end
	removed     bool      // nothing is started any more
}

// outcome is how an ordered start ended.
type outcome struct {
	attempt int
	err     error
}

// postEvent informs the machine what happened and does what it says.
func (s *supervisor) postEvent(ev any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.postLocked(ev)
}

func (s *supervisor) postLocked(ev any) {
	if s.removed {
		return
	}
	before := s.machine.state
	order := isOrder(ev, before)
	actions := s.machine.step(ev, time.Now(), rand.Float64())
	if now := s.machine.state; now != before {
		s.standby.Store(now == Standby)
		s.logChange(before, now)
	}
	for _, a := range actions {
		s.doAction(a)
	}
	if order { // once nothing reaches the process that is to stop
		s.countOrder()
	}
	s.changed.Fire()
	s.m.changed.Fire()
}

// isOrder reports what somebody wants from what happens by itself.
func isOrder(ev any, state State) bool {
	switch ev.(type) {
	case evStop, evRestart, evReload:
		return true
	case evStart:
		return !state.Serving()
	}
	return false
}

// countOrder counts an order, or what became of it.
func (s *supervisor) countOrder() {
	s.ordered.Store(s.m.orders.Add(1))
}

func (s *supervisor) logChange(before, now State) {
	level := slog.LevelInfo
	switch now {
	case Degraded, Backoff:
		level = slog.LevelWarn
	case Failed:
		level = slog.LevelError
	}
	args := []any{"from", before.String(), "to", now.String()}
	if s.machine.reason != "" {
		args = append(args, "reason", s.machine.reason)
	}
	if now == Backoff {
		args = append(
			args,
			"restart_in",
			time.Until(s.machine.next).Round(time.Millisecond).String(),
			"failure",
			s.machine.failures,
		)
	}
	s.log.Log(s.ctx, level, "plugin state", args...)
}

func (s *supervisor) doAction(action any) {
	switch a := action.(type) {
	case doStart:
		ctx, cancel := context.WithCancel(s.ctx)
		s.startCancel = cancel
		spec, beside := s.spec, s.machine.reloading
		s.work.Go(func() {
			defer cancel()
			s.startAndTakeOver(ctx, a.attempt, spec, beside)
		})
	case doStop:
		if (a.reason == "" || s.machine.state == Standby || s.machine.state == Failed) &&
			s.startCancel != nil {
			s.startCancel()
		}
		if inst := s.cur.Swap(nil); inst != nil {
			s.work.Go(func() {
				if a.reason != "" {
					inst.proc.Kill(a.reason)
					return
				}
				s.stopInstance(inst)
			})
		}
	case doTimer:
		t := time.AfterFunc(a.after, func() { s.postEvent(a.evTimer) })
		context.AfterFunc(s.ctx, func() { t.Stop() })
	}
}

// startAndTakeOver launches a process and lets it take over.
func (s *supervisor) startAndTakeOver(ctx context.Context, attempt int, spec Spec, beside bool) {
	s.single.starting.Lock()
	defer s.single.starting.Unlock()
	inst, err := s.launchProcess(ctx, spec, beside)
	s.mu.Lock()
	defer s.mu.Unlock()
	var other standbyError
	if errors.As(err, &other) {
		if err = s.m.claimServices(s, other.manifest); err == nil {
			s.services.SetManifest(other.manifest)
			s.noteOutcome(attempt, nil)
			s.postLocked(evStandby{attempt: attempt})
			if s.single.term.Load() != nil { // it was granted meanwhile
				s.postLocked(evGranted{})
			}
			return
		}
		err = permanentError{err}
	}
	if err != nil {
		s.log.Error("the plugin does not start", "error", err, "attempt", attempt)
		s.noteOutcome(attempt, err)
		s.postLocked(evStartFailed{
			attempt:   attempt,
			reason:    oneLine(err),
			permanent: errors.As(err, new(permanentError)),
		})
		return
	}
	discard := func() { s.stopInstance(inst); s.endInstance(inst) }
	if attempt != s.machine.attempt || s.removed {
		s.last = inst
		s.work.Go(discard)
		return
	}
	if err := s.m.claimServices(s, inst.manifest); err != nil {
		s.work.Go(discard)
		s.noteOutcome(attempt, err)
		s.postLocked(evStartFailed{
			attempt:   attempt,
			reason:    oneLine(err),
			permanent: true,
		})
		return
	}
	s.generation.Add(1)
	s.active, s.last = inst, inst
	old := s.cur.Swap(inst)
	if old != nil ||
		s.machine.reloading { // a reload: what was asked since it was ordered, the old one answered
		s.countOrder()
	}
	s.noteOutcome(attempt, nil)
	s.postLocked(evStarted{attempt: attempt})
	s.work.Go(func() { s.watchExit(inst) })
	s.work.Go(func() { s.watchHealth(inst) })
	s.work.Go(func() { s.watchPing(inst) })
	if old != nil {
		s.work.Go(func() { s.retireInstance(old) })
	}
	for _, w := range inst.warnings {
		s.log.Warn("plugin settings", "warning", w)
	}
}

// noteOutcome notes how the start of an attempt ended, for who waits for it.
func (s *supervisor) noteOutcome(attempt int, err error) {
	if attempt >= s.outcome.attempt {
		s.outcome = outcome{attempt, err}
	}
}

// retireInstance drains and ends a process that has a successor.
func (s *supervisor) retireInstance(old *instance) {
	s.services.Drain(old.token)
	if n := old.drain(s.ctx, s.m.limits.DrainTimeout); n > 0 {
		s.log.Warn(
			"calls were still running in the replaced process and are cut off",
			"calls",
			n,
			"pid",
			old.proc.PID,
		)
	}
	exit := old.proc.Stop(s.m.limits.StopGrace)
	s.log.Info("the replaced process has ended", "pid", old.proc.PID, "exit", exit.String())
}

// stopInstance lets calls in flight end and then the process.
func (s *supervisor) stopInstance(inst *instance) {
	grace := s.m.limits.StopGrace
	inst.drain(s.ctx, grace/2)
	inst.proc.Stop(grace)
}

func (s *supervisor) endInstance(inst *instance) {
	inst.end()
	s.services.RemoveToken(inst.token)
}

// watchExit notices the end of a process.
func (s *supervisor) watchExit(inst *instance) {
	<-inst.proc.Gone()
	s.cur.CompareAndSwap(inst, nil)
	<-inst.proc.Done()
	s.endInstance(inst)
	exit := inst.proc.Exit().String()
	if s.noteExit(inst, exit) && s.m.options.Crashed != nil {
		s.m.options.Crashed(s.name, exit)
	}
}

// noteExit posts the end of a process and reports whether it was a crash.
func (s *supervisor) noteExit(inst *instance, exit string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active != inst {
		return false // it has a successor already
	}
	crash := s.machine.state.Serving()
	if crash {
		s.log.Error("the plugin process has ended", "pid", inst.proc.PID, "exit", exit)
	}
	s.postLocked(evExited{reason: fmt.Sprintf("plugin %s stopped: %s", s.name, exit)})
	return crash
}

// orderAndWait posts an event and waits for the start that it causes, if any.
func (s *supervisor) orderAndWait(ctx context.Context, ev any) error {
	s.mu.Lock()
	s.postLocked(ev)
	target := s.machine.attempt
	if s.machine.state == Stopping && s.machine.again {
		target++
	}
	_, start := ev.(evStart)
	serves := start && s.machine.state.Serving()
	s.mu.Unlock()
	if serves {
		return nil
	}
	var result error
	if err := s.waitUntil(ctx, func(m machine) bool {
		switch {
		case s.outcome.attempt >= target:
			result = s.outcome.err
		case m.state == Standby:
		case m.state == Stopped && m.attempt >= target, m.state == Stopping && !m.again:
			result = fault.New(fault.InUse, "plugin %s was stopped meanwhile", s.name)
		default:
			return false
		}
		return true
	}); err != nil {
		return err
	}
	return result
}

// waitUntil waits until done, which is called under mu, accepts the machine.
func (s *supervisor) waitUntil(ctx context.Context, done func(machine) bool) error {
	for {
		s.mu.Lock()
		changed, m := s.changed.Wait(), s.machine
		ok := done(m)
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("plugin %s is still %s: %w", s.name, m.state, ctx.Err())
		case <-s.ctx.Done():
			return fault.New(fault.NotFound, "plugin %s was removed in the meantime", s.name)
		}
	}
}

// stopAndWait stops the plugin and waits until its process is gone.
func (s *supervisor) stopAndWait(ctx context.Context) error {
	s.postEvent(evStop{})
	return s.waitUntil(ctx, func(m machine) bool { return m.state == Stopped })
}

// removePlugin ends the plugin for good. When ctx ends first, force is used.
func (s *supervisor) removePlugin(ctx context.Context) error {
	err := s.stopAndWait(ctx)
	s.mu.Lock()
	s.removed = true
	last := s.last
	s.mu.Unlock()
	s.cancel()
	s.cur.Store(nil)
	if last != nil { // still there only when ctx ended first
		last.proc.Kill("the controller stops")
	}
	s.work.Wait()
	s.services.Close()
	return err
}

// reloadLabel with the value "restart" in a manifest says that two processes of the
// plugin cannot live side by side, because it holds something exclusive (a port).
// Reloading it is a restart, during which safe calls wait.
const reloadLabel = "reload"

func (s *supervisor) reloadPlugin(ctx context.Context) error {
	m := s.manifest.Load()
	if m != nil && m.Labels[reloadLabel] == "restart" {
		return s.orderAndWait(ctx, evRestart{})
	}
	return s.orderAndWait(ctx, evReload{})
}

// restoreSpec returns to the spec of the process that serves on after a failed reload.
func (s *supervisor) restoreSpec(before Spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur.Load() != nil {
		s.spec = before
	}
}
