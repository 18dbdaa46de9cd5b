package operations

import (
	"context"
	"slices"

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
		return channels.Deploy(have, &in, h.Store.Topology(tx, in.Topology), h.Store.ChannelsIn(tx, in.Topology))
	})
	return h.answer(ctx, in.Topology, c, err)
}

// RemoveIn is the input of remove-channel.
type RemoveIn struct {
	Topology string `json:"topology-id"`
	Name     string `json:"channel-name"`
}

// Remove removes a channel; one that is not there is removed already.
func (h *Handlers) Remove(ctx context.Context, in RemoveIn) (Output, error) {
	if in.Name == "" {
		return h.answer(ctx, "", channels.Changed{}, fault.New(fault.Missing, "channel-name is missing"))
	}
	in.Topology = h.topology(in.Topology)
	c, err := h.Store.Change(ctx, in.Topology, in.Name, func(*state.Tx, *bier.Channel) (*bier.Channel, error) { return nil, nil })
	return h.answer(ctx, in.Topology, c, err)
}

// answer waits for the routers of a channel that was changed and says how far they are.
func (h *Handlers) answer(ctx context.Context, topology string, c channels.Changed, err error) (out Output, _ error) {
	failed := err != nil
	if out.ConfigureOutput, err = bier.Configured(err, empty()); err != nil || failed {
		return out, err
	}
	concerned := routers(c.Now, c.Before)
	wait, cancel := context.WithTimeout(ctx, h.Wait)
	defer cancel()
	_ = h.Store.WaitUntil(wait, func(now *state.Snapshot) bool { // else they are pending, which the answer says
		return !slices.ContainsFunc(concerned, func(node string) bool { return !h.Store.Routers.Answered(now, node, c.Revision) })
	})
	now := h.Store.Now()
	var plan *bier.Plan
	out.State, plan = h.state(now, topology, c.Now, c.Before, c.Revision)
	if t := h.Store.Topology(now, topology); t != nil && plan != nil {
		for i, list := range h.Store.Routers.Warnings(now, t, c.Now, plan) {
			for _, text := range list {
				out.Warnings = append(out.Warnings, "egress "+plan.Egress[i].Node+": "+text)
			}
		}
	}
	return out, nil
}

// Try is Deploy without doing it: the channel's plan, and for each of its egress nodes what
// is to be warned of.
func (h *Handlers) Try(d channels.Deployment) (*bier.Plan, [][]string, error) {
	d.Topology = h.topology(d.Topology)
	now := h.Store.Now()
	var have *bier.Channel
	if c, ok := h.Store.Channels.Get(now, d.Topology, d.Name); ok {
		have = &c
	}
	t := h.Store.Topology(now, d.Topology)
	c, err := channels.Deploy(have, &d, t, h.Store.ChannelsIn(now, d.Topology))
	if err != nil {
		return nil, nil, err
	}
	plan, err := bier.PlanChannel(t, c)
	if err != nil {
		return nil, nil, err
	}
	return plan, h.Store.Routers.Warnings(now, t, c, plan), nil
}
