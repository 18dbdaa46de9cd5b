package sdk

import (
	"context"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// health keeps the newest state and wakes those who watch it.
type health struct {
	mu      sync.Mutex
	now     Health
	since   time.Time
	changed chan struct{} // closed and replaced by set
}

func newHealth() *health {
	return &health{
		since:   time.Now(),
		changed: make(chan struct{}),
	}
}

func (h *health) setHealth(v Health) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v.State != h.now.State {
		h.since = time.Now()
	}
	h.now = v
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *health) healthResponse() (*pluginv1.HealthResponse, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &pluginv1.HealthResponse{
		State:   healthStates[h.now.State],
		Reason:  h.now.Reason,
		Details: h.now.Details,
		Since:   timestamppb.New(h.since),
	}
	return r, h.changed
}

// healthStates are those of the contract.
var healthStates = map[State]pluginv1.HealthResponse_State{
	Healthy:  pluginv1.HealthResponse_STATE_HEALTHY,
	Degraded: pluginv1.HealthResponse_STATE_DEGRADED,
	Failed:   pluginv1.HealthResponse_STATE_FAILED,
}

func (h *health) watchHealth(
	ctx context.Context,
	done <-chan struct{},
	send func(*pluginv1.HealthResponse) error,
) error {
	for {
		r, changed := h.healthResponse()
		if err := send(r); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-done:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}
