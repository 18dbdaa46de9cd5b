package operations

import (
	"context"
	"time"

	"ctl.internal/internal/bier"
)

type reconcileIn struct {
	Nodes []string `json:"node-id"`
	Wait  uint32   `json:"wait"`
}

type reconcileOut struct {
	Routers []bier.RouterState `json:"router,omitempty"`
}

// reconcile says how far routers are with what is configured now.
func (h *Handlers) reconcile(ctx context.Context, in reconcileIn) (*reconcileOut, error) {
	return &reconcileOut{h.Routers.States(ctx, in.Nodes, time.Duration(in.Wait)*time.Millisecond)}, nil
}
