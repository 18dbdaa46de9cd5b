package service

import (
	"context"
	"log/slog"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/operations"
)

// mux returns the RPCs of bier-topology-api by "module:rpc". What they decide is package model's.
func (s *Service) mux() operations.Mux {
	const api = "bier-topology-api:"
	return operations.Mux{
		api + "load-topology":        operations.Func(s.loadTopology),
		api + "query-topology":       operations.Func(s.queryTopology),
		api + "query-node":           operations.Func(s.queryNode),
		api + "query-link":           operations.Func(s.queryLink),
		api + "query-domain":         operations.Func(s.queryDomain),
		api + "query-subdomain":      operations.Func(s.querySubDomain),
		api + "query-subdomain-node": operations.Func(s.querySubDomainNode),
		api + "query-subdomain-link": operations.Func(s.querySubDomainLink),
		api + "configure-domain":     operations.Func(s.configureDomain),
		api + "configure-subdomain":  operations.Func(s.configureSubDomain),
		api + "configure-node":       operations.Func(s.configureNode),
		api + "delete-node":          operations.Func(s.deleteNode),
		api + "delete-ipv4":          operations.Func(s.deleteIPv4),
		api + "delete-ipv6":          operations.Func(s.deleteIPv6),
		api + "delete-domain":        operations.Func(s.deleteDomain),
		api + "delete-subdomain":     operations.Func(s.deleteSubDomain),
	}
}

// target is what most inputs name.
type target struct {
	Topology  string  `json:"topology-id"`
	Node      string  `json:"node-id"`
	Domain    *uint16 `json:"domain-id"`
	SubDomain *uint16 `json:"sub-domain-id"`
}

// configured answers a call that configures: what the user got wrong is a result,
// not an error.
func (s *Service) configured(ctx context.Context, rpc, topology string,
	decide func(*bier.Topology) (*model.Change, error)) (bier.ConfigureOutput, error) {
	return s.changed(ctx, rpc, topology, func(t *bier.Topology, _ func() ([]bier.Channel, error)) (*model.Change, error) { return decide(t) })
}

// deleted is configured of what channels may need.
func (s *Service) deleted(ctx context.Context, rpc, topology string,
	decide func(*bier.Topology, []bier.Channel) (*model.Change, error)) (bier.ConfigureOutput, error) {
	return s.changed(ctx, rpc, topology, func(t *bier.Topology, channels func() ([]bier.Channel, error)) (*model.Change, error) {
		list, err := channels()
		if err != nil {
			return nil, err
		}
		return decide(t, list)
	})
}

func (s *Service) changed(ctx context.Context, rpc, topology string,
	decide func(*bier.Topology, func() ([]bier.Channel, error)) (*model.Change, error)) (bier.ConfigureOutput, error) {
	c, err := s.data.change(ctx, topology, decide)
	if err == nil {
		for _, w := range c.Warnings {
			slog.Warn("BIER configuration", "rpc", rpc, "topology", topology, "warning", w.String())
		}
	}
	return bier.Configured(err, nil)
}

type configureDomainIn struct {
	Topology string   `json:"topology-id"`
	Domains  []uint16 `json:"domain"`
}

func (s *Service) configureDomain(ctx context.Context, in configureDomainIn) (bier.ConfigureOutput, error) {
	return s.configured(ctx, "configure-domain", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.ConfigureDomain(t, in.Domains)
	})
}

type configureSubDomainIn struct {
	Topology   string   `json:"topology-id"`
	Domain     *uint16  `json:"domain-id"`
	SubDomains []uint16 `json:"sub-domain"`
}

func (s *Service) configureSubDomain(ctx context.Context, in configureSubDomainIn) (bier.ConfigureOutput, error) {
	return s.configured(ctx, "configure-subdomain", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.ConfigureSubDomain(t, in.Domain, in.SubDomains)
	})
}

type configureNodeIn struct {
	Topology string            `json:"topology-id"`
	Node     string            `json:"node-id"`
	Domains  []bier.NodeDomain `json:"domain"`
}

func (s *Service) configureNode(ctx context.Context, in configureNodeIn) (bier.ConfigureOutput, error) {
	return s.configured(ctx, "configure-node", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.ConfigureNode(t, bier.ShortID(in.Node), in.Domains)
	})
}

func (s *Service) deleteNode(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	return s.deleted(ctx, "delete-node", in.Topology, func(t *bier.Topology, channels []bier.Channel) (*model.Change, error) {
		return model.DeleteNode(t, bier.ShortID(in.Node), in.Domain, in.SubDomain, channels)
	})
}

type deleteIPIn struct {
	target
	IPv4 *bier.Encapsulation `json:"ipv4"`
	IPv6 *bier.Encapsulation `json:"ipv6"`
}

func (s *Service) deleteIPv4(ctx context.Context, in deleteIPIn) (bier.ConfigureOutput, error) {
	return s.configured(ctx, "delete-ipv4", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.DeleteEncapsulation(t, bier.ShortID(in.Node), in.Domain, in.SubDomain, false, in.IPv4)
	})
}

func (s *Service) deleteIPv6(ctx context.Context, in deleteIPIn) (bier.ConfigureOutput, error) {
	return s.configured(ctx, "delete-ipv6", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.DeleteEncapsulation(t, bier.ShortID(in.Node), in.Domain, in.SubDomain, true, in.IPv6)
	})
}

func (s *Service) deleteSubDomain(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	return s.deleted(ctx, "delete-subdomain", in.Topology, func(t *bier.Topology, channels []bier.Channel) (*model.Change, error) {
		return model.DeleteSubDomain(t, in.Domain, in.SubDomain, channels)
	})
}

func (s *Service) deleteDomain(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	return s.deleted(ctx, "delete-domain", in.Topology, func(t *bier.Topology, channels []bier.Channel) (*model.Change, error) {
		return model.DeleteDomain(t, in.Domain, channels)
	})
}
