package bier

import (
	"context"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// RouterState says whether a router holds what it must hold.
type RouterState struct {
	Node   string `json:"node-id"`
	State  string `json:"state"` // Applied, Pending or Failed
	Reason string `json:"reason,omitempty"`
	Driver string `json:"driver,omitempty"`
}

// States of a router.
const (
	Applied = "applied"
	Pending = "pending"
	Failed  = "failed"
)

type reconcileIn struct {
	Nodes []string `json:"node-id"`
	Wait  uint32   `json:"wait"` // milliseconds
}

type reconcileOut struct {
	Routers []RouterState `json:"router"`
}

// Reconcile asks the BIER service to bring routers to what topologies and channels
// say now, waits for them up to a time, and returns their states by node-id. A
// wait of 0 only asks. Trouble of the service is a state of the routers, pending.
func Reconcile(ctx context.Context, o *host.Operations, nodes []string, wait time.Duration) map[string]RouterState {
	out := map[string]RouterState{}
	if len(nodes) == 0 {
		return out
	}
	var got reconcileOut
	err := o.Call(Own(ctx), "bier-service-api", "reconcile", reconcileIn{nodes, uint32(wait.Milliseconds())}, &got)
	reason := ""
	switch {
	case fault.KindOf(err) == fault.NotFound && err != nil:
		reason = "the feature ctl-bier-service is not installed"
	case err != nil:
		reason = "the BIER service does not answer: " + err.Error()
	}
	for _, n := range nodes {
		out[n] = RouterState{Node: n, State: Pending, Reason: reason}
	}
	for _, r := range got.Routers {
		out[r.Node] = r
	}
	return out
}
