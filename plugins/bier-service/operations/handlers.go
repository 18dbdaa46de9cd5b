// Package operations is the RPCs of bier-service-api, one file each.
package operations

import (
	"context"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-service/drivers"
	"ctl.internal/plugins/bier-service/mounts"
	"ctl.internal/sdk/operations"
)

// Routers is what is known of the routers, on any node.
type Routers interface {
	// States says how far routers are with what is configured now, all when nodes is
	// empty, waiting up to a time for them.
	States(ctx context.Context, nodes []string, wait time.Duration) []bier.RouterState
	// Compare has routers compared with what they must hold, and waits until ctx ends.
	Compare(ctx context.Context, nodes []string) ([]bier.RouterState, error)
	// Session is the session to a router; the zero Session when there is none.
	Session(node string) drivers.Session
}

// Handlers are what the RPCs need.
type Handlers struct {
	Routers Routers
	Mounts  *mounts.Mounts
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
