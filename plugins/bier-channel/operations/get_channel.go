package operations

import "context"

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
