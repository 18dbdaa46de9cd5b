package hostsvc

import (
	"context"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/relay"
	"ctl.internal/internal/wire/onward"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

type operationsServer struct {
	pluginv1.UnimplementedHostOperationsServer
	s *Server
}

func (o *operationsServer) Call(ctx context.Context, r *pluginv1.CallRequest) (*pluginv1.CallResponse, error) {
	ctx, hops := onward.Relayed(ctx)
	if err := relay.Circle(hops); err != nil {
		return nil, err
	}
	if r.OnBehalfOf != "" {
		if err := o.s.Allowed(grant.Service, grant.Operations); err != nil {
			return nil, err
		}
		var served context.Context
		ok := false
		if o.s.services.Callers != nil {
			served, ok = o.s.services.Callers.Served(r.OnBehalfOf)
		}
		if !ok {
			return nil, fault.New(fault.Denied, "plugin %s is not serving the request %q now, so it cannot act for its caller", o.s.plugin, r.OnBehalfOf)
		}
		who, _ := caller.From(served)
		ctx = caller.With(context.WithValue(ctx, servedKey{}, served), who)
	}
	out, err := o.s.services.Operations.Call(ctx, o.s.plugin, r.Module, r.Rpc, r.Input)
	if err != nil {
		return nil, err
	}
	return &pluginv1.CallResponse{Output: out}, nil
}
