package service

import (
	"context"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-service/mounts"
	"ctl.internal/sdk/operations"
)

// rpcMux returns the RPCs of bier-service-api by "module:rpc".
func (s *Service) rpcMux() operations.Mux {
	const api = "bier-service-api:"
	return operations.Mux{
		api + "reconcile":     operations.Func(s.reconcileRouters),
		api + "get-alarms":    operations.Func(s.openAlarms),
		api + "verify":        operations.Func(s.verifyForwarding),
		api + "ping":          operations.Func(s.pingChannel),
		api + "check-channel": operations.Func(s.checkChannel),
		api + "get-abilities": operations.Func(s.queryAbilities),

		api + "get-target-bitstring":      operations.Func(s.targetBitStrings),
		"bier-oam-api:start-echo-request": operations.Func(s.startEcho),
		"bier-oam-api:stop-echo-request":  configureHandler(s.stopEcho),
		"bier-oam-api:get-echo-requests":  operations.Func(s.listStanding),

		api + "mount-router": configureHandler(func(ctx context.Context, in mountRouterIn) error {
			return s.data.Put(ctx, mounts.Mount(in))
		}),
		api + "unmount-router": configureHandler(func(ctx context.Context, in nodeIn) error {
			return s.data.Remove(ctx, in.Node)
		}),
		api + "clear-reports": configureHandler(func(ctx context.Context, in nodeIn) error {
			return s.clearNotices(ctx, in.Node)
		}),
	}
}

// configureHandler serves an RPC that answers what the user got wrong as a result, not as an error.
func configureHandler[In any](do func(context.Context, In) error) operations.Handler {
	return operations.Func(func(ctx context.Context, in In) (bier.ConfigureOutput, error) {
		return bier.Configured(do(ctx, in), nil)
	})
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

// nodeIn is the input of RPCs of one router.
type nodeIn struct {
	Node string `json:"node-id"`
}

// nodesIn is the input of RPCs of several routers; none: all.
type nodesIn struct {
	Nodes []string `json:"node-id"`
	Wait  uint32   `json:"wait"` // milliseconds, of reconcile
}

type reconcileOut struct {
	Routers []bier.RouterState `json:"router,omitempty"`
}

// reconcileRouters says how far routers are with what is configured now.
func (s *Service) reconcileRouters(ctx context.Context, in nodesIn) (*reconcileOut, error) {
	return &reconcileOut{s.awaitRouterStates(
		ctx,
		shortIDs(in.Nodes),
		time.Duration(in.Wait)*time.Millisecond,
	)}, nil
}

// Results of verify.
const (
	equal     = "equal"
	different = "different"
	unknown   = "unknown" // the tables could not be read
)

// verified is what became of one router.
type verified struct {
	Node        string   `json:"node-id"`
	Result      string   `json:"result"`
	Reason      string   `json:"reason,omitempty"`
	Tables      int      `json:"tables"`
	Counted     bool     `json:"-"`
	Packets     uint64   `json:"packets"`
	Bytes       uint64   `json:"bytes"`
	Differences []string `json:"difference,omitempty"`
}

type verifyOut struct {
	Routers []verified `json:"router,omitempty"`
}

// pingIn is the input of ping.
type pingIn struct {
	Topology string   `json:"topology-id"`
	Channel  string   `json:"channel-name"`
	Egress   []string `json:"egress-node"`
	Count    int      `json:"count"`
}

// pinged is what became of one egress node, and its state in the channel.
type pinged struct {
	Node     string `json:"node-id"`
	Sent     uint32 `json:"sent"`
	Received uint32 `json:"received"`
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"`
}

type pingOut struct {
	Egress []pinged `json:"egress-node,omitempty"`
}

type alarmsOut struct {
	Alarms []bier.Alarm `json:"alarm,omitempty"`
}
