// Package operations is the RPCs of bier-channel-api, what they
// decide is package channels'.
package operations

import (
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

// State is how far a channel is, as it is answered.
type State struct {
	State      string             `json:"state,omitempty"`
	Egress     map[string]int     `json:"egress-states,omitempty"`
	Deployment []bier.RouterState `json:"deployment,omitempty"`
}

// Output is that of deploy-channel and remove-channel.
type Output struct {
	bier.ConfigureOutput
	State
	Warnings []string `json:"warning,omitempty"`
}

// routers lists the routers of a channel as it is and as it was; either may be nil.
func routers(now, before *bier.Channel) (out []string) {
	seen := map[string]bool{"": true}
	for _, c := range []*bier.Channel{now, before} {
		if c == nil {
			continue
		}
		for _, node := range append([]string{c.IngressNode}, nodes(c)...) {
			if !seen[node] {
				seen[node] = true
				out = append(out, node)
			}
		}
	}
	return out
}

func nodes(c *bier.Channel) (out []string) {
	for _, e := range c.EgressNodes {
		out = append(out, e.ID)
	}
	return out
}

// state is that of a channel of a topology as to what was configured up to a revision, with
// the routers it was taken from.
func (h *Handlers) state(now state.Reader, topology string, c, before *bier.Channel, revision uint64) (out State, plan *bier.Plan) {
	if c != nil && c.Deployed() {
		if t := h.Store.Topology(now, topology); t != nil {
			s := h.Store.Routers.Channel(now, t, c, revision)
			out, plan = State{s.State, s.Egress, s.Carriers}, s.Plan
		}
	}
	for _, node := range routers(c, before)[len(routers(c, nil)):] {
		x := h.Store.Routers.State(now, node, revision)
		x.Role = bier.RoleFormer
		out.Deployment = append(out.Deployment, x)
	}
	return out, plan
}
