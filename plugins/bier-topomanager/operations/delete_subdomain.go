package operations

import (
	"context"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-topomanager/model"
)

func (h *Handlers) deleteSubDomain(ctx context.Context, in target) (bier.ConfigureOutput, error) {
	return h.deleted(ctx, "delete-subdomain", in.Topology, func(t *bier.Topology, channels []bier.Channel) (*model.Change, error) {
		return model.DeleteSubDomain(t, in.Domain, in.SubDomain, channels)
	})
}
