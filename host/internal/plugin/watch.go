package plugin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ctl.internal/internal/together"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// watchHealth follows what a plugin says of its state, until it ends.
func (s *supervisor) watchHealth(inst *instance) {
	base := pluginv1.NewBaseClient(inst.conn)
	for {
		err := s.followHealth(inst, base)
		if fault.KindOf(err) == fault.Unsupported || together.Sleep(inst.ctx, time.Second) != nil {
			return
		}
	}
}

func (s *supervisor) followHealth(inst *instance, base pluginv1.BaseClient) error {
	stream, err := base.Health(inst.leave, &pluginv1.HealthRequest{})
	if err != nil {
		return fault.FromStatus(err)
	}
	for {
		h, err := stream.Recv()
		if err != nil {
			return fault.FromStatus(err)
		}
		inst.health.Store(h)
		s.mu.Lock()
		if s.active == inst {
			s.postLocked(eventOf(h))
		}
		s.mu.Unlock()
	}
}

// watchCalls reports a plugin that answers pings and leaves its calls without an answer, and ends it when that lasts.
func (s *supervisor) watchCalls(inst *instance) {
	calls, since := s.calls.stuckCalls(time.Now())
	stuck := calls > 0
	if !stuck && !s.stuck.Load() {
		return
	}
	if stuck && s.m.policy.UnhealthyAfter > 0 && since >= s.m.policy.UnhealthyAfter {
		inst.proc.Kill(fmt.Sprintf(
			"hung: %d calls had no answer, and none was answered for %s",
			calls,
			since.Round(time.Second),
		))
		return
	}
	if s.stuck.Swap(stuck) == stuck {
		return
	}
	ev := eventOf(inst.health.Load())
	if stuck {
		ev.degraded, ev.reason = true, fmt.Sprintf(
			"it does not answer: %d calls wait for longer than %s",
			calls,
			slowAfter,
		)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active == inst {
		s.postLocked(ev)
	}
}

// maxReason bounds the reason that a plugin gives for its state, in bytes.
const maxReason = 512

// eventOf is what a plugin says of itself. One that says something unknown serves, but not all it should.
func eventOf(h *pluginv1.HealthResponse) evHealth {
	ev := evHealth{reason: reasonOf(h)}
	switch h.GetState() {
	case pluginv1.HealthResponse_STATE_HEALTHY, pluginv1.HealthResponse_STATE_UNSPECIFIED:
	case pluginv1.HealthResponse_STATE_FAILED:
		ev.failed = true
	default:
		ev.degraded = true
	}
	return ev
}

func reasonOf(h *pluginv1.HealthResponse) string {
	if _, known := pluginv1.HealthResponse_State_name[int32(h.GetState())]; !known {
		return fmt.Sprintf(
			"it reports the state %d, which is not one of the contract",
			h.GetState(),
		)
	}
	if r := h.GetReason(); len(r) > maxReason {
		return strings.ToValidUTF8(r[:maxReason], "") + "…"
	}
	return h.GetReason()
}

// watchPing ends a process that is there but does not answer any more.
func (s *supervisor) watchPing(inst *instance) {
	l := s.m.limits
	t := time.NewTicker(l.PingEvery)
	defer t.Stop()
	misses := 0
	for {
		select {
		case <-inst.proc.Gone():
			return
		case <-t.C:
		}
		if inst.draining.Load() {
			return // it is being stopped, which has a limit of its own, and may have closed its socket already
		}
		ctx, cancel := context.WithTimeout(inst.ctx, l.PingTimeout)
		err := inst.proc.Ping(ctx)
		cancel()
		s.watchCalls(inst)
		s.followFiles(inst.ctx)
		if err == nil {
			misses = 0
			continue
		}
		misses++
		if misses >= l.PingMisses && !inst.proc.Ended() && !inst.draining.Load() {
			inst.proc.Kill(fmt.Sprintf(
				"hung: it did not answer %d pings of %s",
				misses,
				l.PingTimeout,
			))
			return
		}
	}
}
