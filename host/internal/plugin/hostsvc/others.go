package hostsvc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/relay"
	"ctl.internal/internal/wire/onward"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Here are the services that lead to other plugins: their RPCs (HostOperations), and who serves what (HostSwitchboard).

type operationsServer struct {
	pluginv1.UnimplementedHostOperationsServer
	s *Server
}

func (o *operationsServer) Call(
	ctx context.Context,
	r *pluginv1.CallRequest,
) (*pluginv1.CallResponse, error) {
	ctx, hops := onward.Relayed(ctx)
	if err := relay.Circle(hops); err != nil {
		return nil, err
	}
	if r.OnBehalfOf != "" {
		if err := o.s.Allowed(grant.Service, grant.Operations); err != nil {
			return nil, err
		}
		served, ok := o.s.services.Serving(r.OnBehalfOf)
		if !ok {
			return nil, fault.New(
				fault.Denied,
				"plugin %s is not serving the request %q now, so it cannot act for its caller",
				o.s.plugin,
				r.OnBehalfOf,
			)
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

type switchboardServer struct {
	pluginv1.UnimplementedHostSwitchboardServer
	s *Server
}

func (b *switchboardServer) Providers(
	_ context.Context,
	r *pluginv1.ProvidersRequest,
) (*pluginv1.ProvidersResponse, error) {
	if err := b.s.Allowed(grant.Plugins, r.Capability); err != nil {
		return nil, err
	}
	return b.listProviders(r.Capability), nil
}

func (b *switchboardServer) WatchProviders(
	r *pluginv1.ProvidersRequest,
	out grpc.ServerStreamingServer[pluginv1.ProvidersResponse],
) error {
	d := b.s.services.Directory
	if err := b.s.Allowed(grant.Plugins, r.Capability); err != nil {
		return err
	}
	var sent *pluginv1.ProvidersResponse
	for {
		changed := d.Changed()
		now := b.listProviders(r.Capability)
		if sent == nil || !proto.Equal(withoutRestartTimes(sent), withoutRestartTimes(now)) {
			if err := out.Send(now); err != nil {
				return err
			}
			sent = now
		}
		select {
		case <-changed:
		case <-out.Context().Done():
			return out.Context().Err()
		}
	}
}

func (b *switchboardServer) listProviders(capability string) *pluginv1.ProvidersResponse {
	res := &pluginv1.ProvidersResponse{}
	for _, p := range b.s.services.Directory.Providers(capability) {
		m := &pluginv1.Provider{
			Name:       p.Name,
			Version:    p.Version,
			Ready:      p.Ready,
			Labels:     p.Labels,
			Generation: p.Generation,
		}
		if p.RestartIn > 0 {
			m.RestartIn = durationpb.New(p.RestartIn)
		}
		res.Providers = append(res.Providers, m)
	}
	return res
}

// withoutRestartTimes leaves out what changes with the clock alone.
func withoutRestartTimes(r *pluginv1.ProvidersResponse) *pluginv1.ProvidersResponse {
	c := proto.CloneOf(r)
	for _, p := range c.Providers {
		p.RestartIn = nil
	}
	return c
}
