package operations

import (
	"context"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/fault"
)

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
