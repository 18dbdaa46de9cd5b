// Package operations is the RPCs of bier-service-api.
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
	// Session is the session to a router; the zero value without a session.
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

// Inspector asks routers what they made of their configuration.
type Inspector interface {
	// Verify compares the forwarding tables of routers with those computed, of all mounted
	// ones when nodes is empty.
	Verify(ctx context.Context, nodes []string) ([]Verified, error)
	// Ping has the ingress of a channel ping its egress nodes over BIER.
	Ping(ctx context.Context, q PingIn) ([]Pinged, error)
}

// Results of Verify.
const (
	Equal     = "equal"
	Different = "different"
	Unknown   = "unknown" // the tables could not be read
)

// Verified is what became of one router.
type Verified struct {
	Node        string   `json:"node-id"`
	Result      string   `json:"result"`
	Reason      string   `json:"reason,omitempty"`
	Tables      int      `json:"tables"`
	Counted     bool     `json:"-"`
	Packets     uint64   `json:"packets"`
	Bytes       uint64   `json:"bytes"`
	Differences []string `json:"difference,omitempty"`
}

// PingIn is the input of ping.
type PingIn struct {
	Topology string   `json:"topology-id"`
	Channel  string   `json:"channel-name"`
	Egress   []string `json:"egress-node"`
	Count    int      `json:"count"`
}

// Pinged is what became of one egress node, and its state in the channel.
type Pinged struct {
	Node     string `json:"node-id"`
	Sent     uint32 `json:"sent"`
	Received uint32 `json:"received"`
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"`
}

type verifyIn struct {
	Nodes []string `json:"node-id"`
}

type verifyOut struct {
	Routers []Verified `json:"router,omitempty"`
}

func (h *Handlers) verify(ctx context.Context, in verifyIn) (*verifyOut, error) {
	list, err := h.Inspector.Verify(ctx, in.Nodes)
	return &verifyOut{list}, err
}

type pingOut struct {
	Egress []Pinged `json:"egress-node,omitempty"`
}

func (h *Handlers) ping(ctx context.Context, in PingIn) (*pingOut, error) {
	list, err := h.Inspector.Ping(ctx, in)
	return &pingOut{list}, err
}

type alarmsOut struct {
	Alarms []bier.Alarm `json:"alarm,omitempty"`
}

func (h *Handlers) getAlarms(ctx context.Context, _ struct{}) (*alarmsOut, error) {
	list, err := h.Routers.Alarms(ctx)
	return &alarmsOut{list}, err
}

func (h *Handlers) clearReports(ctx context.Context, in nodeIn) (bier.ConfigureOutput, error) {
	return bier.Configured(h.Routers.ClearNotices(ctx, in.Node), nil)
}
