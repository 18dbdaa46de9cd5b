// Package operations is the RPCs of bier-channel-api, what they
// decide is package channels'.
package operations

import (
	"context"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/sdk/fault"
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

type getChannelIn struct {
	Topology string `json:"topology-id"`
}

type channelRef struct {
	Name string `json:"name"`
}

type getChannelOut struct {
	Channels []channelRef `json:"channel-name,omitempty"`
}

func (h *Handlers) getChannel(_ context.Context, in getChannelIn) (*getChannelOut, error) {
	out := &getChannelOut{}
	for _, c := range h.Store.ChannelsOf(h.Store.Now(), h.topology(in.Topology)) {
		out.Channels = append(out.Channels, channelRef{c.Name})
	}
	return out, nil
}

// QueryIn is the input of query-channel.
type QueryIn struct {
	Topology string   `json:"topology-id"`
	Names    []string `json:"channel-name"`
}

// Described is a channel with what became of it.
type Described struct {
	bier.Channel
	Forwarding string      `json:"bier-forwarding-type,omitempty"`
	Copies     int         `json:"copies,omitempty"`
	BitStrings []BitString `json:"bitstring,omitempty"`
	State
}

// BitString is a bit string that leaves the ingress.
type BitString struct {
	SI   int    `json:"si"`
	BSL  uint16 `json:"bitstringlength"`
	Bits string `json:"bits"`
}

// QueryOut is the output of query-channel.
type QueryOut struct {
	Channels []Described `json:"channel,omitempty"`
}

// Query answers channels by their names.
func (h *Handlers) Query(_ context.Context, in QueryIn) (*QueryOut, error) {
	if len(in.Names) == 0 {
		return nil, fault.At(fault.Missing, "/bier-channel-api:input/channel-name", "channel-name is missing: a list of names")
	}
	out := &QueryOut{}
	topology, now := h.topology(in.Topology), h.Store.Now()
	for _, name := range in.Names {
		c, ok := h.Store.Channels.Get(now, topology, name)
		if !ok {
			continue
		}
		x := Described{Channel: c}
		if c.Deployed() {
			x.Forwarding = "bier" // traffic engineering is not offered
			var plan *bier.Plan
			x.State, plan = h.state(now, topology, &c, nil, h.Store.Channels.Revision(now, topology, name))
			x.describe(plan)
		}
		out.Channels = append(out.Channels, x)
	}
	return out, nil
}

// describe adds the bit strings, of the egress nodes that can be reached.
func (x *Described) describe(p *bier.Plan) {
	if p == nil {
		return
	}
	x.Copies = len(p.BitStrings)
	for _, s := range p.BitStrings {
		x.BitStrings = append(x.BitStrings, BitString{s.SI, uint16(p.BSL), s.Hex()})
	}
}
