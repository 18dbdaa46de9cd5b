package operations

import (
	"context"
	"log/slog"

	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/plugins/bier-topomanager/store"
	"ctl.internal/sdk/bier"
	"ctl.internal/sdk/operations"
)

// Handlers are what the RPCs need.
type Handlers struct {
	Store *store.Store
	// InUse asks which deployed channels need part of a topology.
	InUse func(ctx context.Context, topology string) (model.InUse, error)
}

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
		"bier-topology-view:read":    operations.Func(h.read),
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
func (h *Handlers) configured(ctx context.Context, rpc string, decide func(*model.Model) (*model.Change, error)) (bier.ConfigureOutput, error) {
	c, err := h.Store.Do(ctx, decide)
	if err == nil {
		for _, w := range c.Warnings {
			slog.Warn("BIER configuration", "rpc", rpc, "topology", c.Topology, "warning", w.String())
		}
	}
	return bier.Configured(err, nil)
}

// deleted is configured of what channels may need. They are asked while nothing else
// changes: a deployment looks at the topology once more behind its being stored, so
// either it is seen here, or it sees what is deleted here.
func (h *Handlers) deleted(ctx context.Context, rpc, topology string, decide func(*model.Model, model.InUse) (*model.Change, error)) (bier.ConfigureOutput, error) {
	return h.configured(ctx, rpc, func(m *model.Model) (*model.Change, error) {
		use, err := h.InUse(ctx, topology)
		if err != nil {
			return nil, err
		}
		return decide(m, use)
	})
}
