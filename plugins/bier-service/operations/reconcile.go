package operations

import (
	"context"
	"time"

	"ctl.internal/sdk/bier"
)

type reconcileIn struct {
	Nodes []string `json:"node-id"`
	Wait  uint32   `json:"wait"`
}

type reconcileOut struct {
	Routers []bier.RouterState `json:"router,omitempty"`
}

// reconcile looks at what is configured now and waits for routers.
func (h *Handlers) reconcile(ctx context.Context, in reconcileIn) (*reconcileOut, error) {
	if err := h.Refresh(ctx); err != nil {
		return nil, err
	}
	if in.Wait == 0 {
		return &reconcileOut{h.Engine.States(in.Nodes)}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(in.Wait)*time.Millisecond)
	defer cancel()
	return &reconcileOut{h.Engine.Settle(ctx, in.Nodes)}, nil
}
