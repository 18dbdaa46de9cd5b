package operations

import (
	"context"
	"errors"
	"time"

	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/fault"
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
	if err == nil {
		err = h.confirm(ctx, in.Topology, t, now, before)
	}
	failed := err != nil
	if out.ConfigureOutput, err = bier.Configured(err, empty()); err != nil || failed {
		return out, err
	}
	out.Deployment = h.deployment(ctx, now, before, h.Wait)
	return out, nil
}

// confirmTime bounds the second look at a topology, and taking a deployment back.
const confirmTime = 30 * time.Second

// confirm looks at the topology once more: who deleted part of it while the deployment
// was decided did not know of the deployment, so it is taken back.
func (h *Handlers) confirm(ctx context.Context, topology string, t *bier.Topology, now, before *bier.Channel) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), confirmTime)
	defer cancel()
	later, err := h.Settled(ctx, topology)
	if err == nil {
		if later == t {
			return nil
		}
		_, err = bier.PlanChannel(later, now)
	} else if fault.KindOf(err) != fault.NotFound {
		return nil // nobody is there to delete anything
	}
	if err == nil {
		return nil
	}
	return errors.Join(h.Store.Do(ctx, topology, now.Name, func(have *bier.Channel, _ []bier.Channel) (*bier.Channel, error) {
		if have != now {
			return have, nil // changed or removed since
		}
		return before, nil
	}), err)
}
