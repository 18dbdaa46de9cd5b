package operations

import (
	"context"

	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/sdk/bier"
)

func (h *Handlers) addChannel(ctx context.Context, in channels.Fields) (bier.ConfigureOutput, error) {
	err := h.Store.Do(ctx, h.topology(in.Topology), in.Name, func(have *bier.Channel, _ []bier.Channel) (*bier.Channel, error) {
		return channels.Add(have, &in)
	})
	return bier.Configured(err, empty())
}
