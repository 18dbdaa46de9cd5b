package operations

import (
	"context"

	"ctl.internal/plugins/bier-service/mounts"
	"ctl.internal/sdk/bier"
)

func (h *Handlers) mountRouter(ctx context.Context, in mounts.Mount) (bier.ConfigureOutput, error) {
	return bier.Configured(h.Mounts.Put(ctx, in), nil)
}

type unmountRouterIn struct {
	Node string `json:"node-id"`
}

func (h *Handlers) unmountRouter(ctx context.Context, in unmountRouterIn) (bier.ConfigureOutput, error) {
	return bier.Configured(h.Mounts.Remove(ctx, in.Node), nil)
}
