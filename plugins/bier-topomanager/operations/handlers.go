// Package operations is the RPCs of bier-topology-api. What they decide is package model's.
package operations

import (
	"context"
	"log/slog"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/data"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/operations"
)

// Handlers are what the RPCs need.
type Handlers struct{ Data *data.Data }

// Mux returns the RPCs by "module:rpc".
func (h *Handlers) Mux() operations.Mux {
	const api = "bier-topology-api:"
	return operations.Mux{
		api + "load-topology":        operations.Func(h.loadTopology),
		api + "query-topology":       operations.Func(h.queryTopology),
		api + "query-node":           operations.Func(h.queryNode),
		api + "query-link":           operations.Func(h.queryLink),
		api + "query-domain":         operations.Func(h.queryDomain),
		api + "query-subdomain":      operations.Func(h.querySubDomain),
		api + "query-subdomain-node": operations.Func(h.querySubDomainNode),
		api + "query-subdomain-link": operations.Func(h.querySubDomainLink),
		api + "configure-domain":     operations.Func(h.configureDomain),
		api + "configure-subdomain":  operations.Func(h.configureSubDomain),
		api + "configure-node":       operations.Func(h.configureNode),
		api + "delete-node":          operations.Func(h.deleteNode),
		api + "delete-ipv4":          operations.Func(h.deleteIPv4),
		api + "delete-ipv6":          operations.Func(h.deleteIPv6),
		api + "delete-domain":        operations.Func(h.deleteDomain),
		api + "delete-subdomain":     operations.Func(h.deleteSubDomain),
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
func (h *Handlers) configured(ctx context.Context, rpc, topology string, decide func(*bier.Topology) (*model.Change, error)) (bier.ConfigureOutput, error) {
	return h.changed(ctx, rpc, topology, func(t *bier.Topology, _ func() ([]bier.Channel, error)) (*model.Change, error) { return decide(t) })
}

// deleted is configured of what channels may need.
func (h *Handlers) deleted(ctx context.Context, rpc, topology string, decide func(*bier.Topology, []bier.Channel) (*model.Change, error)) (bier.ConfigureOutput, error) {
	return h.changed(ctx, rpc, topology, func(t *bier.Topology, channels func() ([]bier.Channel, error)) (*model.Change, error) {
		list, err := channels()
		if err != nil {
			return nil, err
		}
		return decide(t, list)
	})
}

func (h *Handlers) changed(ctx context.Context, rpc, topology string, decide func(*bier.Topology, func() ([]bier.Channel, error)) (*model.Change, error)) (bier.ConfigureOutput, error) {
	c, err := h.Data.Change(ctx, topology, decide)
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
		return model.ConfigureNode(t, bier.ShortID(in.Node), in.Domains)
	})
}

func (h *Handlers) deleteNode(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	return h.deleted(ctx, "delete-node", in.Topology, func(t *bier.Topology, channels []bier.Channel) (*model.Change, error) {
		return model.DeleteNode(t, bier.ShortID(in.Node), in.Domain, in.SubDomain, channels)
	})
}

type deleteIPIn struct {
	target
	IPv4 *bier.Encapsulation `json:"ipv4"`
	IPv6 *bier.Encapsulation `json:"ipv6"`
}

func (h *Handlers) deleteIPv4(ctx context.Context, in deleteIPIn) (bier.ConfigureOutput, error) {
	return h.configured(ctx, "delete-ipv4", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.DeleteEncapsulation(t, bier.ShortID(in.Node), in.Domain, in.SubDomain, false, in.IPv4)
	})
}

func (h *Handlers) deleteIPv6(ctx context.Context, in deleteIPIn) (bier.ConfigureOutput, error) {
	return h.configured(ctx, "delete-ipv6", in.Topology, func(t *bier.Topology) (*model.Change, error) {
		return model.DeleteEncapsulation(t, bier.ShortID(in.Node), in.Domain, in.SubDomain, true, in.IPv6)
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
