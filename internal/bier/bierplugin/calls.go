package bierplugin

import (
	"context"
	"time"

	"ctl.internal/sdk/host"
)

// ServiceCalls are calls of RPCs of bier-service by another BIER plugin, with the plugin's own rights: what
// is asked for is needed for a decision, whoever asks for that.
type ServiceCalls struct {
	running context.Context // of the plugin; it has no caller
	host    *host.Client
}

// NewServiceCalls returns the calls of a plugin that runs as long as ctx.
func NewServiceCalls(ctx context.Context, h *host.Client) *ServiceCalls {
	return &ServiceCalls{running: ctx, host: h}
}

// asking bounds a call: who waits for it has more to do.
const asking = 5 * time.Second

// Call calls an RPC of bier-service-api and waits for the answer, as long as ctx allows.
func (c *ServiceCalls) Call(ctx context.Context, rpc string, in, out any) error {
	own, cancel := context.WithTimeout(c.running, asking)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	return c.host.Operations.Call(own, "bier-service-api", rpc, in, out)
}
