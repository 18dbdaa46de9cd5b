package service

import (
	"context"
	"log/slog"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/state"
)

// rpcMux returns the RPCs of bier-topology-api by "module:rpc". What they decide is package model's, what
// they answer query.go's.
func (s *Service) rpcMux() operations.Mux {
	mux := operations.Mux{}
	for name, handler := range map[string]operations.Handler{
		"load-topology":        operations.Func(s.loadTopology),
		"query-topology":       queryHandler(s.findTopology, topologyAnswer),
		"query-node":           queryHandler(s.findTopology, nodeAnswer),
		"query-link":           queryHandler(s.findTopology, linkAnswer),
		"query-domain":         queryHandler(s.findTopology, domainAnswer),
		"query-subdomain":      queryHandler(s.topologyWithDomain, subDomainAnswer),
		"query-subdomain-node": queryHandler(s.subDomain, s.subDomainNodeAnswer),
		"query-subdomain-link": queryHandler(s.subDomain, subDomainLinkAnswer),
		"configure-domain": configureHandler(s, func(t *bier.Topology, in domainsIn) (*model.Change, error) {
			return model.ConfigureDomain(t, in.Domains)
		}),
		"configure-subdomain": configureHandler(s, func(t *bier.Topology, in subDomainsIn) (*model.Change, error) {
			return model.ConfigureSubDomain(t, in.Domain, in.SubDomains)
		}),
		"configure-node":   operations.Func(s.configureNode),
		"number-subdomain": operations.Func(s.numberSubDomain),
		"delete-ipv4": configureHandler(s, func(t *bier.Topology, in deleteIPIn) (*model.Change, error) {
			return model.DeleteEncapsulation(
				t,
				bier.ShortID(in.Node),
				in.Domain,
				in.SubDomain,
				false,
				in.IPv4,
			)
		}),
		"delete-ipv6": configureHandler(s, func(t *bier.Topology, in deleteIPIn) (*model.Change, error) {
			return model.DeleteEncapsulation(
				t,
				bier.ShortID(in.Node),
				in.Domain,
				in.SubDomain,
				true,
				in.IPv6,
			)
		}),
		"delete-node": removeHandler(s, func(t *bier.Topology, in target, channels []bier.Channel) (*model.Change, error) {
			return model.DeleteNode(t, bier.ShortID(in.Node), in.Domain, in.SubDomain, channels)
		}),
		"delete-subdomain": removeHandler(s, func(t *bier.Topology, in target, channels []bier.Channel) (*model.Change, error) {
			return model.DeleteSubDomain(t, in.Domain, in.SubDomain, channels)
		}),
		"delete-domain": removeHandler(s, func(t *bier.Topology, in target, channels []bier.Channel) (*model.Change, error) {
			return model.DeleteDomain(t, in.Domain, channels)
		}),
	} {
		mux["bier-topology-api:"+name] = handler
	}
	return mux
}

// target is what most inputs name.
type target struct {
	of
	Node      string  `json:"node-id"`
	Domain    *uint16 `json:"domain-id"`
	SubDomain *uint16 `json:"sub-domain-id"`
}

// of is the topology that an input is about.
type of struct {
	Topology string `json:"topology-id"`
}

func (o of) topology() string { return o.Topology }

type domainsIn struct {
	of
	Domains []uint16 `json:"domain"`
}

type subDomainsIn struct {
	of
	Domain     *uint16  `json:"domain-id"`
	SubDomains []uint16 `json:"sub-domain"`
}

type nodeIn struct {
	of
	Node    string            `json:"node-id"`
	Domains []bier.NodeDomain `json:"domain"`
}

type deleteIPIn struct {
	target
	IPv4 *bier.Encapsulation `json:"ipv4"`
	IPv6 *bier.Encapsulation `json:"ipv6"`
}

// configureHandler serves an RPC that changes the topology of its input.
func configureHandler[In interface{ topology() string }](
	s *Service,
	decide func(*bier.Topology, In) (*model.Change, error),
) operations.Handler {
	return changeHandler(s, false, func(t *bier.Topology, in In, _ []bier.Channel) (*model.Change, error) {
		return decide(t, in)
	})
}

// removeHandler is configure of what channels may need.
func removeHandler[In interface{ topology() string }](
	s *Service,
	decide func(*bier.Topology, In, []bier.Channel) (*model.Change, error),
) operations.Handler {
	return changeHandler(s, true, decide)
}

// changeHandler answers what the user got wrong as a result, not as an error.
func changeHandler[In interface{ topology() string }](s *Service, channels bool,
	decide func(*bier.Topology, In, []bier.Channel) (*model.Change, error)) operations.Handler {
	return operations.Func(func(ctx context.Context, in In) (bier.ConfigureOutput, error) {
		_, err := s.data.changeTopology(ctx, in.topology(), channels, func(_ *state.Tx, t *bier.Topology, list []bier.Channel) (*model.Change, error) {
			return decide(t, in, list)
		})
		return bier.Configured(err, nil)
	})
}

// configureNode changes the BIER configuration of a node, if it is a router of its own that can have it.
func (s *Service) configureNode(ctx context.Context, in nodeIn) (bier.ConfigureOutput, error) {
	node := bier.ShortID(in.Node)
	one := s.onlyOneSubDomain(ctx, in.topology(), node, in.Domains)
	c, err := s.data.changeTopology(ctx, in.topology(), false, func(tx *state.Tx, t *bier.Topology, _ []bier.Channel) (*model.Change, error) {
		c, err := model.ConfigureNode(t, node, in.Domains)
		if err != nil {
			return nil, err
		}
		if err := s.data.checkDistinctNode(tx, t, node); err != nil {
			return nil, err
		}
		return c, model.CheckAbilities(&c.Nodes[0], one)
	})
	if err == nil {
		for _, w := range c.Warnings {
			slog.Warn(
				"BIER configuration",
				"rpc",
				"configure-node",
				"topology",
				in.topology(),
				"warning",
				w.Error(),
			)
		}
	}
	return bier.Configured(err, nil)
}

// onlyOneSubDomain reports whether the model of a router is known to have one sub-domain. Where that does not
// matter nobody is asked.
func (s *Service) onlyOneSubDomain(
	ctx context.Context,
	topology, node string,
	domains []bier.NodeDomain,
) bool {
	have, _ := s.data.Nodes.Get(s.data.Store.Now(), topology, node)
	many := model.SubDomains(&have)
	for i := range domains {
		for _, x := range domains[i].Global.SubDomains {
			if _, is := have.Member(domains[i].ID, x.ID); is == nil {
				many++
			}
		}
	}
	if many < 2 {
		return false
	}
	var out struct {
		Lacks []string `json:"lacks"`
	}
	err := s.ask.Call(ctx, "get-abilities", map[string]string{"node-id": node}, &out)
	if err != nil {
		slog.Debug(
			"what the model of a router can do is not known before it is reached",
			"node",
			node,
			"error",
			err,
		)
	}
	return slices.Contains(out.Lacks, bierdriver.SubDomains)
}
