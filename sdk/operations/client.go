package operations

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Client calls the operations of a plugin over a connection.
type Client struct{ rpc pluginv1.OperationsClient }

// NewClient returns a client on conn.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pluginv1.NewOperationsClient(conn)}
}

// Invoke executes an RPC for the caller in ctx and returns the members of its
// output as a JSON object, nil for none. Errors are *fault.Error or fault.List.
func (c *Client) Invoke(ctx context.Context, module, rpc string, input []byte) ([]byte, error) {
	req := &pluginv1.InvokeRequest{Module: module, Rpc: rpc, Input: input}
	if who, ok := caller.From(ctx); ok {
		req.Caller = caller.ToProto(who)
	}
	res, err := c.rpc.Invoke(ctx, req)
	if st := status.Convert(err); st.Code() == codes.ResourceExhausted && len(st.Details()) == 0 { // not of the plugin
		return nil, fault.Wrap(fault.TooBig, err, "the answer of %s:%s is larger than %d MiB: ask for less of it, by a limit or a filter", module, rpc, wire.MaxMessage>>20)
	}
	if err != nil {
		return nil, fault.FromStatus(err)
	}
	return res.Output, nil
}
