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
