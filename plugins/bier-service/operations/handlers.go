package operations

import (
	"context"

	"ctl.internal/plugins/bier-service/mounts"
	"ctl.internal/plugins/bier-service/reconcile"
	"ctl.internal/sdk/operations"
)

// Handlers are what the RPCs need.
type Handlers struct {
	Refresh func(context.Context) error // reads topologies and channels
	Engine  *reconcile.Engine
	Mounts  *mounts.Table
}

// Mux returns the RPCs by "module:rpc".
func (h *Handlers) Mux() operations.Mux {
	const api = "bier-service-api:"
	return operations.Mux{
		api + "reconcile":      operations.Func(h.reconcile),
		api + "mount-router":   operations.Func(h.mountRouter),
		api + "unmount-router": operations.Func(h.unmountRouter),
	}
}
