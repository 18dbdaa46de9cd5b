package operations

import (
	"context"

	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/sdk/bier"
)

// Deploy stores who carries a channel, then waits for the routers. Whatever they
// do, what is stored will be so.
func (h *Handlers) Deploy(ctx context.Context, in channels.Deployment) (out Output, err error) {
	in.Topology = h.topology(in.Topology)
	var now, before *bier.Channel
	t, err := h.Topology(ctx, in.Topology)
	if err == nil {
		err = h.Store.Do(ctx, in.Topology, in.Name, func(have *bier.Channel, others []bier.Channel) (*bier.Channel, error) {
			before = have
			now, err = channels.Deploy(have, &in, t, others)
			return now, err
		})
	}
	if out.ConfigureOutput, err = bier.Configured(err, empty()); err != nil || now == nil {
		return out, err
	}
	out.Deployment = h.deployment(ctx, now, before, h.Wait)
	return out, nil
}
