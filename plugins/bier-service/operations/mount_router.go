package operations

import (
	"context"

	"ctl.internal/internal/bier"
	"ctl.internal/plugins/bier-service/mounts"
)

type mountRouterIn struct {
	Node       string `json:"node-id"`
	Host       string `json:"host"`
	Port       uint16 `json:"port"`
	User       string `json:"username"`
	Password   string `json:"password"`
	PrivateKey string `json:"private-key"`
	HostKey    string `json:"host-key"`
	Driver     string `json:"driver"`
	Dialect    string `json:"dialect"`
	Keepalive  uint32 `json:"keepalive"`
}

func (h *Handlers) mountRouter(ctx context.Context, in mountRouterIn) (bier.ConfigureOutput, error) {
	return bier.Configured(h.Mounts.Put(ctx, mounts.Mount(in)), nil)
}

type unmountRouterIn struct {
	Node string `json:"node-id"`
}

func (h *Handlers) unmountRouter(ctx context.Context, in unmountRouterIn) (bier.ConfigureOutput, error) {
	return bier.Configured(h.Mounts.Remove(ctx, in.Node), nil)
}
