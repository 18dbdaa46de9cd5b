package plugin

import (
	"context"
	"fmt"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// watchHealth follows what a plugin says of its state, until it ends.
func (s *supervisor) watchHealth(inst *instance) {
	base := pluginv1.NewBaseClient(inst.conn)
	for {
		err := s.followHealth(inst, base)
		if fault.KindOf(err) == fault.Unsupported {
			return
		}
		select {
		case <-inst.ctx.Done():
			return
		case <-time.After(time.Second):
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
			s.postLocked(evHealth{
				failed:   h.State == pluginv1.HealthResponse_STATE_FAILED,
				degraded: h.State == pluginv1.HealthResponse_STATE_DEGRADED,
				reason:   h.Reason,
			})
		}
		s.mu.Unlock()
	}
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
		ctx, cancel := context.WithTimeout(inst.ctx, l.PingTimeout)
		err := inst.proc.Ping(ctx)
		cancel()
		if err == nil {
			misses = 0
			continue
		}
		misses++
		if misses >= l.PingMisses && !inst.gone() {
			inst.proc.Kill(fmt.Sprintf("hung: it did not answer %d pings of %s", misses, l.PingTimeout))
			return
		}
	}
}
