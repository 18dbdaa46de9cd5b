// Package operations is the RPCs of bier-service-api, one file each.
package operations

import (
	"context"
	"time"

	"ctl.internal/internal/bier"
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
	// Alarms are what is wrong in the network now.
	Alarms(ctx context.Context) ([]bier.Alarm, error)
	// ClearNotices forgets what a router reported.
	ClearNotices(ctx context.Context, node string) error
	// Session is the session to a router; the zero one when there is none.
	Session(node string) bier.Session
}

// Handlers are what the RPCs need.
type Handlers struct {
	Routers   Routers
	Inspector Inspector
	Mounts    *mounts.Mounts
}

// Mux returns the RPCs by "module:rpc".
func (h *Handlers) Mux() operations.Mux {
	const api = "bier-service-api:"
	return operations.Mux{
		api + "reconcile":      operations.Func(h.reconcile),
		api + "get-alarms":     operations.Func(h.getAlarms),
		api + "clear-reports":  operations.Func(h.clearReports),
		api + "verify":         operations.Func(h.verify),
		api + "ping":           operations.Func(h.ping),
		api + "mount-router":   operations.Func(h.mountRouter),
		api + "unmount-router": operations.Func(h.unmountRouter),
	}
}

type mountRouterIn struct {
	Node       string `json:"node-id"`
	Host       string `json:"host"`
	Port       uint16 `json:"port"`
	User       string `json:"username"`
	Password   string `json:"password"`
	PrivateKey string `json:"private-key"`
	HostKey    string `json:"host-key"`
	Driver     string `json:"driver"`
	Dialect    string `json:"dialect"`
	Keepalive  uint32 `json:"keepalive"`
}

func (h *Handlers) mountRouter(ctx context.Context, in mountRouterIn) (bier.ConfigureOutput, error) {
	return bier.Configured(h.Mounts.Put(ctx, mounts.Mount(in)), nil)
}

// nodeIn is the input of RPCs of one router.
type nodeIn struct {
	Node string `json:"node-id"`
}

func (h *Handlers) unmountRouter(ctx context.Context, in nodeIn) (bier.ConfigureOutput, error) {
	return bier.Configured(h.Mounts.Remove(ctx, in.Node), nil)
}

type reconcileIn struct {
	Nodes []string `json:"node-id"`
	Wait  uint32   `json:"wait"`
}

type reconcileOut struct {
	Routers []bier.RouterState `json:"router,omitempty"`
}

// reconcile says how far routers are with what is configured now.
func (h *Handlers) reconcile(ctx context.Context, in reconcileIn) (*reconcileOut, error) {
	for i := range in.Nodes {
		in.Nodes[i] = bier.ShortID(in.Nodes[i])
	}
	return &reconcileOut{h.Routers.States(ctx, in.Nodes, time.Duration(in.Wait)*time.Millisecond)}, nil
}
