package operations

import (
	"context"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/sdk/fault"
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

// Deploy stores who carries a channel, then waits for the routers. Whatever they
// do, what is stored will be so.
func (h *Handlers) Deploy(ctx context.Context, in channels.Deployment) (Output, error) {
	in.Topology = h.topology(in.Topology)
	c, err := h.Store.Change(ctx, in.Topology, in.Name, func(tx *state.Tx, have *bier.Channel) (*bier.Channel, error) {
		return channels.Deploy(have, &in, h.Store.Topology(tx, in.Topology), h.Store.ChannelsOf(tx, in.Topology))
	})
	return h.answer(ctx, c, err)
}

// RemoveIn is the input of remove-channel.
type RemoveIn struct {
	Topology string `json:"topology-id"`
	Name     string `json:"channel-name"`
}

// Remove removes a channel; one that is not there is removed already.
func (h *Handlers) Remove(ctx context.Context, in RemoveIn) (Output, error) {
	if in.Name == "" {
		return h.answer(ctx, channels.Changed{}, fault.New(fault.Missing, "channel-name is missing"))
	}
	c, err := h.Store.Change(ctx, h.topology(in.Topology), in.Name, func(*state.Tx, *bier.Channel) (*bier.Channel, error) { return nil, nil })
	return h.answer(ctx, c, err)
}

// answer waits for the routers of a channel that was changed and says how far they are.
func (h *Handlers) answer(ctx context.Context, c channels.Changed, err error) (out Output, _ error) {
	failed := err != nil
	if out.ConfigureOutput, err = bier.Configured(err, empty()); err != nil || failed {
		return out, err
	}
	out.Deployment = routers(c.Now, c.Before)
	wait, cancel := context.WithTimeout(ctx, h.Wait)
	defer cancel()
	_ = h.Store.WaitUntil(wait, func(now *state.Snapshot) bool { // else they are pending, which the answer says
		for _, d := range out.Deployment {
			if !h.Store.Routers.Answered(now, d.Node, c.Revision) {
				return false
			}
		}
		return true
	})
	h.states(h.Store.Now(), out.Deployment, c.Revision)
	return out, nil
}
