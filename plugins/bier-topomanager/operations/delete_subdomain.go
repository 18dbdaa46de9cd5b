package operations

import (
	"context"

	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/bier"
)

func (h *Handlers) deleteSubDomain(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	return h.deleted(ctx, "delete-subdomain", in.Topology, func(m *model.Model, use model.InUse) (*model.Change, error) {
		return m.DeleteSubDomain(in.Topology, in.Domain, in.SubDomain, use)
	})
}
