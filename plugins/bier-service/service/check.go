package service

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-service/reconcile"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
)

// checking bounds the question to one driver, which does no I/O.
const checking = 5 * time.Second

// findUnwritable is what a driver cannot write to a router of the channels in d, by their names; false: it cannot say.
func (a *acting) findUnwritable(
	ctx context.Context,
	r *bierdriver.Router,
	d *reconcile.Desired,
) (map[string]string, bool) {
	res, err := a.checkRouter(ctx, a.data.store.Now(), r.NodeId, d)
	if err != nil {
		slog.Debug("what a driver can write is found by trying", "node", r.NodeId, "reason", err)
		return nil, false
	}
	out := map[string]string{}
	for _, x := range res.GetChannels() {
		if int(x.Channel) < len(d.Channels) {
			out[d.Channels[x.Channel]] = x.Reason
		}
	}
	return out, true
}

// readRouter is what a router holds, nil: not known.
func (a *acting) readRouter(ctx context.Context, r *bierdriver.Router) *bierdriver.Config {
	_, client, err := a.routerAndDriver(a.data.store.Now(), r.NodeId)
	var o *bierdriver.Observed
	if err == nil {
		o, err = client.Read(ctx, r)
	}
	if err != nil {
		slog.Debug("what a router holds is not known", "node", r.NodeId, "reason", err)
		return nil
	}
	return o.GetConfig()
}

// checkRouter asks the driver of a router what it cannot write of a configuration.
func (s *Service) checkRouter(
	ctx context.Context,
	now *state.Snapshot,
	node string,
	d *reconcile.Desired,
) (*bierdriver.Checked, error) {
	r, client, err := s.routerAndDriver(now, node)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, checking)
	defer cancel()
	return client.Check(ctx, r, d.Made().Wire(true))
}

// checkIn is the input of check-channel: a channel as it is to be deployed.
type checkIn struct {
	Topology string `json:"topology-id"`
	bier.Channel
	Egress []string `json:"egress"`
}

// checkedRouter is a router that cannot have a channel.
type checkedRouter struct {
	Node   string `json:"node-id"`
	Reason string `json:"reason"`
}

type checkOut struct {
	Refused []checkedRouter `json:"refused,omitempty"`
}

// checkChannel says which routers cannot have a channel, as far as their drivers know that without
// asking them.
func (s *Service) checkChannel(ctx context.Context, in checkIn) (*checkOut, error) {
	now, err := s.data.store.Fresh(ctx)
	if err != nil {
		return nil, err
	}
	c := in.Channel
	for _, e := range in.Egress {
		c.EgressNodes = append(c.EgressNodes, bier.EgressNode{ID: bier.ShortID(e)})
	}
	t := s.data.Members(now, in.Topology)
	if t == nil {
		return nil, fault.New(fault.NotFound, "there is no topology %s", in.Topology)
	}
	desired, _ := new(reconcile.Planner).Wanted(bier.OneChannel(t, c))
	nodes := c.Routers()
	why := make([]string, len(nodes))
	var group errgroup.Group
	group.SetLimit(s.set.Parallel)
	for i, node := range nodes {
		if desired[node] == nil {
			continue
		}
		group.Go(func() error {
			why[i] = s.checkOne(ctx, now, node, desired[node])
			return nil
		})
	}
	_ = group.Wait() // none of them fails
	out := &checkOut{}
	for i, node := range nodes {
		if why[i] != "" {
			out.Refused = append(out.Refused, checkedRouter{node, why[i]})
		}
	}
	return out, nil
}

// checkOne says why a router cannot have the only channel of d, "" if it can or that is not known.
func (s *Service) checkOne(
	ctx context.Context,
	now *state.Snapshot,
	node string,
	d *reconcile.Desired,
) string {
	res, err := s.checkRouter(ctx, now, node, d)
	if err != nil {
		slog.Debug(
			"whether a router can have a channel is found by trying",
			"node",
			node,
			"reason",
			err,
		)
		return ""
	}
	i := slices.IndexFunc(res.Channels, func(x *bierdriver.Refusal) bool {
		return x.Reason != ""
	})
	if i >= 0 {
		return res.Channels[i].Reason
	}
	return ""
}

type abilitiesOut struct {
	Driver string   `json:"driver,omitempty"`
	Lacks  []string `json:"lacks,omitempty"`
}

// queryAbilities says what the model of a router is known not to be able to do, also before it was reached.
func (s *Service) queryAbilities(ctx context.Context, in nodeIn) (*abilitiesOut, error) {
	now, node := s.data.store.Now(), bier.ShortID(in.Node)
	out := &abilitiesOut{}
	if r := s.data.Mounts.Get(now, node); r != nil {
		out.Driver = r.Driver
	}
	x, _ := s.data.status.Get(now, bier.RouterKey(node))
	session, _ := s.data.status.Sessions.Get(now, node)
	if out.Driver == "" {
		out.Driver = x.Driver
	}
	lacks := x.Lacks + "," + session.Lacks
	if out.Driver != "" {
		ctx, cancel := context.WithTimeout(ctx, checking)
		defer cancel()
		if _, err := s.registry.WantsMembers(ctx, out.Driver); err == nil { // it is described then
			lacks = s.registry.Lacks(out.Driver) + "," + session.Lacks
		}
	}
	out.Lacks = strings.FieldsFunc(lacks, func(r rune) bool { return r == ',' })
	slices.Sort(out.Lacks)
	out.Lacks = slices.Compact(out.Lacks)
	return out, nil
}
