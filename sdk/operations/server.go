package operations

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Register serves h on a gRPC server; sdk.Serve does this for a plugin.
func Register(s grpc.ServiceRegistrar, h Handler) {
	pluginv1.RegisterOperationsServer(s, &server{handler: h})
}

type server struct {
	pluginv1.UnimplementedOperationsServer
	handler Handler
}

func (s *server) Invoke(ctx context.Context, r *pluginv1.InvokeRequest) (*pluginv1.InvokeResponse, error) {
	if r.Caller != nil {
		ctx = caller.With(ctx, caller.FromProto(r.Caller))
	}
	out, err := s.handler.Invoke(ctx, &Request{Module: r.Module, RPC: r.Rpc, Input: r.Input})
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	res := &pluginv1.InvokeResponse{}
	if res.Output, err = Encode(r.Module, r.Rpc, out); err != nil {
		return nil, fault.ToStatus(err)
	}
	return res, nil
}

// Encode writes what a Handler returned as the members of the RPC's output; nil
// when there are none.
func Encode(module, rpc string, output any) ([]byte, error) {
	switch v := output.(type) {
	case nil, None:
		return nil, nil
	case json.RawMessage:
		return v, nil
	}
	b, err := json.Marshal(output)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the output of %s:%s cannot be encoded: %v", module, rpc, err)
	}
	return b, nil
}
