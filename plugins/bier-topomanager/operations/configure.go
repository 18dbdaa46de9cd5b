package operations

import (
	"context"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
)

type configureDomainIn struct {
	Topology string   `json:"topology-id"`
	Domains  []uint16 `json:"domain"`
}

func (h *Handlers) configureDomain(ctx context.Context, in configureDomainIn) (bier.ConfigureOutput, error) {
	return h.configured(ctx, "configure-domain", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.ConfigureDomain(t, in.Domains)
	})
}

type configureSubDomainIn struct {
	Topology   string   `json:"topology-id"`
	Domain     *uint16  `json:"domain-id"`
	SubDomains []uint16 `json:"sub-domain"`
}

func (h *Handlers) configureSubDomain(ctx context.Context, in configureSubDomainIn) (bier.ConfigureOutput, error) {
	return h.configured(ctx, "configure-subdomain", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.ConfigureSubDomain(t, in.Domain, in.SubDomains)
	})
}

type configureNodeIn struct {
	Topology string            `json:"topology-id"`
	Node     string            `json:"node-id"`
	Domains  []bier.NodeDomain `json:"domain"`
}

func (h *Handlers) configureNode(ctx context.Context, in configureNodeIn) (bier.ConfigureOutput, error) {
	return h.configured(ctx, "configure-node", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.ConfigureNode(t, in.Node, in.Domains)
	})
}

func (h *Handlers) deleteNode(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	return h.deleted(ctx, "delete-node", in.Topology, func(t *bier.Topology, channels []bier.Channel) (*model.Change, error) {
		return model.DeleteNode(t, in.Node, in.Domain, in.SubDomain, channels)
	})
}

type deleteIPIn struct {
	target
	IPv4 *bier.Encapsulation `json:"ipv4"`
	IPv6 *bier.Encapsulation `json:"ipv6"`
}

func (h *Handlers) deleteIPv4(ctx context.Context, in deleteIPIn) (bier.ConfigureOutput, error) {
	return h.configured(ctx, "delete-ipv4", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.DeleteEncapsulation(t, in.Node, in.Domain, in.SubDomain, false, in.IPv4)
	})
}

func (h *Handlers) deleteIPv6(ctx context.Context, in deleteIPIn) (bier.ConfigureOutput, error) {
	return h.configured(ctx, "delete-ipv6", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.DeleteEncapsulation(t, in.Node, in.Domain, in.SubDomain, true, in.IPv6)
	})
}

func (h *Handlers) deleteSubDomain(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	return h.deleted(ctx, "delete-subdomain", in.Topology, func(t *bier.Topology, channels []bier.Channel) (*model.Change, error) {
		return model.DeleteSubDomain(t, in.Domain, in.SubDomain, channels)
	})
}

func (h *Handlers) deleteDomain(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	return h.deleted(ctx, "delete-domain", in.Topology, func(t *bier.Topology, channels []bier.Channel) (*model.Change, error) {
		return model.DeleteDomain(t, in.Domain, channels)
	})
}
