package operations

import (
	"context"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
)

func (h *Handlers) deleteNode(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	return h.deleted(ctx, "delete-node", in.Topology, func(t *bier.Topology, channels []bier.Channel) (*model.Change, error) {
		return model.DeleteNode(t, in.Node, in.Domain, in.SubDomain, channels)
	})
}
