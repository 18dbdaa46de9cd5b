package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/state"
)

// rpcMux returns the RPCs of bier-channel-api by "module:rpc".
func (s *Service) rpcMux() operations.Mux {
	const api = "bier-channel-api:"
	return operations.Mux{
		api + "get-channel":    operations.Func(s.getChannel),
		api + "query-channel":  operations.Func(s.queryChannels),
		api + "add-channel":    s.channelWriteHandler(channels.Add),
		api + "modify-channel": s.channelWriteHandler(channels.Modify),
		api + "deploy-channel": operations.Func(s.applyDeployment),
		api + "remove-channel": operations.Func(s.deleteChannel),

		api + "query-channel-with-port":       operations.Func(s.queryWithPort),
		"bier-pce:query-channel-through-port": operations.Func(s.queryThroughPort),
	}
}

// emptyCause is the errorCause of a success, as clients of this interface know it.
func emptyCause() *string { return new(string) }

// topologyOrDefault is the one that a call means.
func (s *Service) topologyOrDefault(id string) string {
	return cmp.Or(id, s.set.DefaultTopology)
}

// channelWriteHandler serves an RPC that writes what a user says of a channel.
func (s *Service) channelWriteHandler(decide func(*bier.Channel, *channels.Fields, *bier.Topology) (*bier.Channel, error)) operations.Handler {
	return operations.Func(func(ctx context.Context, in channels.Fields) (bier.ConfigureOutput, error) {
		in.Topology = s.topologyOrDefault(in.Topology)
		_, err := s.Change(ctx, in.Topology, in.Name, func(tx *state.Tx, have *bier.Channel) (*bier.Channel, error) {
			return decide(have, &in, s.Members(tx, in.Topology))
		})
		return bier.Configured(err, emptyCause())
	})
}

// output is that of deploy-channel and remove-channel.
type output struct {
	bier.ConfigureOutput
	deployment
	Warnings []string `json:"warning,omitempty"`
}

// applyDeployment stores who carries a channel, then waits for the routers. Whatever they
// do, what is stored will be so.
func (s *Service) applyDeployment(ctx context.Context, in channels.Deployment) (output, error) {
	in.Topology = s.topologyOrDefault(in.Topology)
	now := s.Now()
	if c, err := channels.Deploy(
		s.Get(now, in.Topology, in.Name),
		&in,
		s.Topology(now, in.Topology),
		s.ChannelsIn(now, in.Topology),
	); err == nil {
		if err := s.checkDriversCanWrite(ctx, in.Topology, c); err != nil {
			return s.awaitDeployment(ctx, in.Topology, channels.Changed{}, err)
		}
	} // else the transaction says what is wrong with it
	c, err := s.Change(ctx, in.Topology, in.Name, func(tx *state.Tx, have *bier.Channel) (*bier.Channel, error) {
		return channels.Deploy(
			have,
			&in,
			s.Topology(tx, in.Topology),
			s.ChannelsIn(tx, in.Topology),
		)
	})
	return s.awaitDeployment(ctx, in.Topology, c, err)
}

// checkDriversCanWrite asks the BIER service whether drivers can write a channel to its routers. Where nobody can
// say, the state of the channel will.
func (s *Service) checkDriversCanWrite(
	ctx context.Context,
	topology string,
	c *bier.Channel,
) error {
	in := map[string]any{
		"topology-id":     topology,
		"name":            c.Name,
		"src-ip":          c.SrcIP,
		"dst-group":       c.DstGroup,
		"domain-id":       c.DomainID,
		"sub-domain-id":   c.SubDomainID,
		"source-wildcard": c.SourceWildcard,
		"group-wildcard":  c.GroupWildcard,
		"ingress-node":    c.IngressNode,
		"egress":          c.Routers()[1:],
	}
	var out struct {
		Refused []struct {
			Node   string `json:"node-id"`
			Reason string `json:"reason"`
		} `json:"refused"`
	}
	if err := s.ask.Call(ctx, "check-channel", in, &out); err != nil {
		slog.Debug(
			"whether routers can have a channel is not known before it is deployed",
			"channel",
			c.Name,
			"error",
			err,
		)
		return nil
	}
	if len(out.Refused) == 0 {
		return nil
	}
	var list []string
	for _, r := range out.Refused {
		list = append(
			list,
			fmt.Sprintf("router %s cannot have channel %s: %s", r.Node, c.Name, r.Reason),
		)
	}
	return fault.New(fault.Invalid, "%s", strings.Join(list[:min(len(list), maxRefusals)], "; "))
}

// maxRefusals bounds the routers that an error names.
const maxRefusals = 5

type removeIn struct {
	Topology string `json:"topology-id"`
	Name     string `json:"channel-name"`
}

// deleteChannel removes a channel; one that is not there is removed already.
func (s *Service) deleteChannel(ctx context.Context, in removeIn) (output, error) {
	if in.Name == "" {
		return s.awaitDeployment(
			ctx,
			"",
			channels.Changed{},
			fault.New(fault.Missing, "channel-name is missing"),
		)
	}
	in.Topology = s.topologyOrDefault(in.Topology)
	c, err := s.Change(ctx, in.Topology, in.Name, func(*state.Tx, *bier.Channel) (*bier.Channel, error) {
		return nil, nil
	})
	return s.awaitDeployment(ctx, in.Topology, c, err)
}

// awaitDeployment waits for the routers of a channel that was changed and says how far they are.
func (s *Service) awaitDeployment(
	ctx context.Context,
	topology string,
	c channels.Changed,
	err error,
) (out output, _ error) {
	failed := err != nil
	if out.ConfigureOutput, err = bier.Configured(err, emptyCause()); err != nil || failed {
		return out, err
	}
	concerned := listChannelRouters(c.Now, c.Before)
	wait, cancel := context.WithTimeout(ctx, s.set.DeployWait.Duration)
	defer cancel()
	_ = s.WaitUntil(wait, func(now *state.Snapshot) bool { // else they are pending, which the answer says
		return !slices.ContainsFunc(concerned, func(node string) bool {
			return !s.Routers.Answered(now, node, c.Revision)
		})
	})
	now := s.Now()
	var plan *bier.Plan
	out.deployment, plan = s.deploymentState(now, topology, c.Now, c.Before, c.Revision)
	t := s.Topology(now, topology)
	if t != nil && plan != nil {
		for i, list := range s.Routers.Warnings(now, t, c.Now, plan) {
			for _, text := range list {
				out.Warnings = append(out.Warnings, "egress "+plan.Egress[i].Node+": "+text)
			}
		}
	}
	return out, nil
}

// planDeployment is deploy without doing it: the channel's plan, and for each of its egress nodes what
// is to be warned of.
func (s *Service) planDeployment(
	ctx context.Context,
	d channels.Deployment,
) (*bier.Plan, [][]string, error) {
	now := s.Now()
	t := s.Topology(now, d.Topology)
	c, err := channels.Deploy(s.Get(now, d.Topology, d.Name), &d, t, s.ChannelsIn(now, d.Topology))
	if err != nil {
		return nil, nil, err
	}
	if err := s.checkDriversCanWrite(ctx, d.Topology, c); err != nil {
		return nil, nil, err
	}
	plan, err := bier.PlanChannel(t, c)
	if err != nil {
		return nil, nil, err
	}
	return plan, s.Routers.Warnings(now, t, c, plan), nil
}

type channelRef struct {
	Name string `json:"name"`
}

type getChannelOut struct {
	Channels []channelRef `json:"channel-name,omitempty"`
}

func (s *Service) getChannel(_ context.Context, in queryIn) (*getChannelOut, error) {
	out := &getChannelOut{}
	for _, c := range s.ChannelsOf(s.Now(), s.topologyOrDefault(in.Topology)) {
		out.Channels = append(out.Channels, channelRef{c.Name})
	}
	return out, nil
}

type queryIn struct {
	Topology string   `json:"topology-id"`
	Names    []string `json:"channel-name"`
}

// described is a channel with what became of it.
type described struct {
	bier.Channel
	Forwarding string      `json:"bier-forwarding-type,omitempty"`
	Copies     int         `json:"copies,omitempty"`
	BitStrings []bitString `json:"bitstring,omitempty"`
	deployment
}

// bitString is a bit string that leaves the ingress.
type bitString struct {
	SI   int    `json:"si"`
	BSL  uint16 `json:"bitstringlength"`
	Bits string `json:"bits"`
}

type queryOut struct {
	Channels []described `json:"channel,omitempty"`
}

// queryChannels answers channels by their names.
func (s *Service) queryChannels(_ context.Context, in queryIn) (*queryOut, error) {
	if len(in.Names) == 0 {
		return nil, fault.At(
			fault.Missing,
			"/bier-channel-api:input/channel-name",
			"channel-name is missing: a list of names",
		)
	}
	out := &queryOut{}
	topology, now := s.topologyOrDefault(in.Topology), s.Now()
	for _, name := range in.Names {
		c := s.Get(now, topology, name)
		if c == nil {
			continue
		}
		x := described{Channel: *c}
		if c.Deployed() {
			x.Forwarding = "bier" // traffic engineering is not offered
			var plan *bier.Plan
			if x.deployment, plan = s.deploymentState(
				now,
				topology,
				c,
				nil,
				s.Channels.Revision(now, topology, name),
			); plan != nil {
				x.Copies = len(plan.BitStrings) // of the egress nodes that can be reached
				for _, b := range plan.BitStrings {
					x.BitStrings = append(x.BitStrings, bitString{b.SI, uint16(plan.BSL), b.Hex()})
				}
			}
		}
		out.Channels = append(out.Channels, x)
	}
	return out, nil
}
