package plugin

import (
	"context"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Invoke executes an RPC of an installed module for the caller in ctx. input and
// output are the members of the RPC's input and output as JSON objects; nil = none.
// Errors are *fault.Error, fault.List or *UnavailableError.
func (m *Manager) Invoke(ctx context.Context, module, rpc string, input []byte) ([]byte, error) {
	op, ok := m.index.Load().rpcs[module+":"+rpc]
	if !ok {
		return nil, fault.New(fault.NotFound, "no installed feature serves the RPC %s:%s", module, rpc)
	}
	if op.safe {
		ctx = Safe(ctx)
	}
	if _, ok := ctx.Deadline(); !ok {
		limit := op.timeout
		if limit <= 0 {
			limit = m.limits.CallTimeout
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	ctx, err := m.fresh(ctx)
	if err != nil {
		return nil, err
	}
	req := &pluginv1.InvokeRequest{Module: module, Rpc: rpc, Input: input}
	if who, ok := caller.From(ctx); ok {
		req.Caller = caller.ToProto(who)
	}
	res := &pluginv1.InvokeResponse{}
	err = conn{s: op.s}.Invoke(ctx, pluginv1.Operations_Invoke_FullMethodName, req, res, grpc.StaticMethod())
	if err != nil {
		return nil, fault.FromStatus(err)
	}
	return res.Output, nil
}
