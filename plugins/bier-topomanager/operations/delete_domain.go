package operations

import (
	"context"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
)

func (h *Handlers) deleteDomain(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	return h.deleted(ctx, "delete-domain", in.Topology, func(t *bier.Topology, channels []bier.Channel) (*model.Change, error) {
		return model.DeleteDomain(t, in.Domain, channels)
	})
}
