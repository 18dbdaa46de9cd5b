package operations

import (
	"context"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/sdk/state"
)

func (h *Handlers) addChannel(ctx context.Context, in channels.Fields) (bier.ConfigureOutput, error) {
	return h.write(ctx, in, channels.Add)
}

func (h *Handlers) modifyChannel(ctx context.Context, in channels.Fields) (bier.ConfigureOutput, error) {
	return h.write(ctx, in, channels.Modify)
}

func (h *Handlers) write(ctx context.Context, in channels.Fields, decide func(*bier.Channel, *channels.Fields, *bier.Topology) (*bier.Channel, error)) (bier.ConfigureOutput, error) {
	in.Topology = h.topology(in.Topology)
	_, err := h.Store.Change(ctx, in.Topology, in.Name, func(tx *state.Tx, have *bier.Channel) (*bier.Channel, error) {
		return decide(have, &in, h.Store.Members(tx, in.Topology))
	})
	return bier.Configured(err, empty())
}
