package operations

import (
	"context"
	"slices"
	"time"

	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/operations"
)

// Handlers are what the RPCs and commands need.
type Handlers struct {
	Store   *channels.Store
	Default string        // topology-id where a call names none
	Wait    time.Duration // for routers
	// Topology reads a topology.
	Topology func(ctx context.Context, id string) (*bier.Topology, error)
	// Settled is Topology behind the changes that are decided at this moment.
	Settled func(ctx context.Context, id string) (*bier.Topology, error)
	// Reconcile tells the BIER service and waits for routers.
	Reconcile func(ctx context.Context, nodes []string, wait time.Duration) map[string]bier.RouterState
}

// Mux returns the RPCs by "module:rpc".
func (h *Handlers) Mux() operations.Mux {
	const api = "bier-channel-api:"
	return operations.Mux{
		api + "get-channel":      operations.Func(h.getChannel),
		api + "query-channel":    operations.Func(h.Query),
		api + "add-channel":      operations.Func(h.addChannel),
		api + "modify-channel":   operations.Func(h.modifyChannel),
		api + "deploy-channel":   operations.Func(h.Deploy),
		api + "remove-channel":   operations.Func(h.Remove),
		"bier-channel-view:read": operations.Func(h.read),
	}
}

// empty is the errorCause of a success, as clients of this interface know it.
func empty() *string { return new(string) }

func (h *Handlers) topology(id string) string {
	if id == "" {
		return h.Default
	}
	return id
}

// Deployed is an entry of list deployment.
type Deployed struct {
	Node   string `json:"node-id"`
	Role   string `json:"role"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
}

// Output is that of deploy-channel and remove-channel.
type Output struct {
	bier.ConfigureOutput
	Deployment []Deployed `json:"deployment,omitempty"`
}

// deployment asks for the routers of a channel as it is and as it was; either may
// be nil.
func (h *Handlers) deployment(ctx context.Context, now, before *bier.Channel, wait time.Duration) []Deployed {
	var out []Deployed
	add := func(node, role string) {
		if node != "" && !slices.ContainsFunc(out, func(d Deployed) bool { return d.Node == node }) {
			out = append(out, Deployed{Node: node, Role: role})
		}
	}
	if now != nil {
		add(now.IngressNode, "ingress")
		for _, e := range now.EgressNodes {
			add(e.ID, "egress")
		}
	}
	if before != nil {
		add(before.IngressNode, "former")
		for _, e := range before.EgressNodes {
			add(e.ID, "former")
		}
	}
	nodes := make([]string, len(out))
	for i := range out {
		nodes[i] = out[i].Node
	}
	states := h.Reconcile(ctx, nodes, wait)
	for i := range out {
		s := states[out[i].Node]
		out[i].State, out[i].Reason = s.State, s.Reason
	}
	return out
}

// read is for the other BIER plugins.
func (h *Handlers) read(_ context.Context, in struct {
	Revision uint64 `json:"revision"`
	Changes  bool   `json:"changes"`
}) (bier.ChannelView, error) {
	if in.Changes {
		return h.Store.Since(in.Revision), nil
	}
	return h.Store.View(in.Revision), nil
}
