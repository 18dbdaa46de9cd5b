package operations

import (
	"context"

	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/bier"
)

func (h *Handlers) deleteDomain(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	return h.deleted(ctx, "delete-domain", in.Topology, func(m *model.Model, use model.InUse) (*model.Change, error) {
		return m.DeleteDomain(in.Topology, in.Domain, use)
	})
}
