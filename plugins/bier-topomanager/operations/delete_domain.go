package operations

import (
	"context"

	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/bier"
)

func (h *Handlers) deleteDomain(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	use, err := h.InUse(ctx, in.Topology)
	if err != nil {
		return bier.ConfigureOutput{}, err
	}
	return h.configured(ctx, "delete-domain", func(m *model.Model) (*model.Change, error) {
		return m.DeleteDomain(in.Topology, in.Domain, use)
	})
}
