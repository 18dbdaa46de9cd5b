package operations

import (
	"context"

	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/bier"
)

func (h *Handlers) deleteNode(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	return h.deleted(ctx, "delete-node", in.Topology, func(m *model.Model, use model.InUse) (*model.Change, error) {
		return m.DeleteNode(in.Topology, in.Node, in.Domain, in.SubDomain, use)
	})
}
