// Package operations is the RPCs of bier-channel-api, one
// file each. What they decide is package channels'.
package operations

import (
	"slices"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/state"
)

// Handlers are what the RPCs and commands need.
type Handlers struct {
	Store   *channels.Store
	Default string        // topology-id where a call names none
	Wait    time.Duration // for routers
}

// Mux returns the RPCs by "module:rpc".
func (h *Handlers) Mux() operations.Mux {
	const api = "bier-channel-api:"
	return operations.Mux{
		api + "get-channel":    operations.Func(h.getChannel),
		api + "query-channel":  operations.Func(h.Query),
		api + "add-channel":    operations.Func(h.addChannel),
		api + "modify-channel": operations.Func(h.modifyChannel),
		api + "deploy-channel": operations.Func(h.Deploy),
		api + "remove-channel": operations.Func(h.Remove),
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

// routers lists the routers of a channel as it is and as it was; either may be nil.
func routers(now, before *bier.Channel) (out []Deployed) {
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
	return out
}

// states fills in how far routers are with what was configured up to a revision.
func (h *Handlers) states(now state.Reader, list []Deployed, revision uint64) {
	for i := range list {
		s := h.Store.Routers.State(now, list[i].Node, revision)
		list[i].State, list[i].Reason = s.State, s.Reason
	}
}
