package operations

import (
	"context"

	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/bier"
)

func (h *Handlers) deleteNode(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	use, err := h.InUse(ctx, in.Topology)
	if err != nil {
		return bier.ConfigureOutput{}, err
	}
	return h.configured(ctx, "delete-node", func(m *model.Model) (*model.Change, error) {
		return m.DeleteNode(in.Topology, in.Node, in.Domain, in.SubDomain, use)
	})
}
