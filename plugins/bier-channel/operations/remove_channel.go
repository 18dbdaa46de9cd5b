package operations

import (
	"context"

	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/fault"
)

// RemoveIn is the input of remove-channel.
type RemoveIn struct {
	Topology string `json:"topology-id"`
	Name     string `json:"channel-name"`
}

// Remove removes a channel; one that is not there is removed already.
func (h *Handlers) Remove(ctx context.Context, in RemoveIn) (out Output, err error) {
	var before *bier.Channel
	if in.Name == "" {
		err = fault.New(fault.Missing, "channel-name is missing")
	} else {
		err = h.Store.Do(ctx, h.topology(in.Topology), in.Name, func(have *bier.Channel, _ []bier.Channel) (*bier.Channel, error) {
			before = have
			return nil, nil
		})
	}
	failed := err != nil
	if out.ConfigureOutput, err = bier.Configured(err, empty()); err != nil || failed {
		return out, err
	}
	out.Deployment = h.deployment(ctx, nil, before, h.Wait)
	return out, nil
}
