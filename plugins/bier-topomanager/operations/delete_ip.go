package operations

import (
	"context"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
)

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
