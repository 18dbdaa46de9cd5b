// Package service is the running plugin: its RPCs and commands. What they decide is package
// channels'.
package service

import (
	"context"
	"slices"
	"sync"
	"time"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-channel/channels"
	"ctl.internal/sdk"
	"ctl.internal/sdk/state"
)

// settings are those of etc/bier-channel.yaml.
type settings struct {
	DefaultTopology string       `json:"default_topology"` // where a call names none
	DeployWait      sdk.Duration `json:"deploy_wait"`      // for routers
}

// Service is the running plugin.
type Service struct {
	*channels.Store
	set settings
	ask *bierplugin.ServiceCalls
}

// Start makes the plugin for the host.
func Start(ctx context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	s := &Service{}
	if err := env.DecodeConfig(&s.set); err != nil {
		return nil, err
	}
	if err := s.set.DeployWait.Between("deploy_wait", 0, time.Minute); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s.ask = bierplugin.NewServiceCalls(ctx, env.Host)
	var err error
	if s.Store, err = channels.Open(ctx, env.Host); err != nil {
		cancel()
		return nil, err
	}
	var group sync.WaitGroup
	group.Go(func() {
		s.WatchBroken(ctx, func(all map[string]error) {
			env.Health(bierplugin.Health(all))
		})
	})
	return &sdk.Plugin{
		Operations: s.rpcMux(),
		Commands:   s.commandTable(),
		State:      s.Store.Store,
		Check:      s.Check,
		Stop:       bierplugin.Stop(cancel, &group),
	}, nil
}

// deployment is how far a channel is, as it is answered.
type deployment struct {
	State      string             `json:"state,omitempty"`
	Egress     map[string]int     `json:"egress-states,omitempty"`
	Proved     time.Time          `json:"proved,omitzero"`
	ProvedBy   string             `json:"proved-by,omitempty"`
	Silent     []string           `json:"silent,omitempty"`
	Deployment []bier.RouterState `json:"deployment,omitempty"`
}

// listChannelRouters lists the routers of a channel as it is and as it was; either may be nil.
func listChannelRouters(now, before *bier.Channel) (out []string) {
	seen := map[string]bool{"": true}
	for _, c := range []*bier.Channel{now, before} {
		if c == nil {
			continue
		}
		for _, node := range c.Routers() {
			if !seen[node] {
				seen[node] = true
				out = append(out, node)
			}
		}
	}
	return out
}

// deploymentState says how far a channel of a topology is as to what was configured up to a revision, with
// the routers it was taken from, and its plan, nil where it has none.
func (s *Service) deploymentState(
	now state.Reader,
	topology string,
	c, before *bier.Channel,
	revision uint64,
) (out deployment, plan *bier.Plan) {
	if c != nil && c.Deployed() {
		if t := s.Topology(now, topology); t != nil {
			x := s.Routers.Channel(now, t, c, revision)
			out = deployment{
				State:      x.State,
				Egress:     x.Egress,
				Proved:     x.Proved,
				ProvedBy:   x.ProvedBy,
				Silent:     x.Silent,
				Deployment: x.Carriers,
			}
			plan = x.Plan
		}
	}
	for _, node := range listChannelRouters(c, before)[len(listChannelRouters(c, nil)):] {
		x := s.Routers.State(now, node, revision)
		out.Deployment = slices.DeleteFunc(out.Deployment, func(o bier.RouterState) bool {
			return o.Node == node
		}) // it forwards only
		x.Role = bier.RoleFormer
		out.Deployment = append(out.Deployment, x)
	}
	return out, plan
}
