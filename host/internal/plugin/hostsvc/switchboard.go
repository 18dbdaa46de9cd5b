package hostsvc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"ctl.internal/host/internal/grant"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

type switchboardServer struct {
	pluginv1.UnimplementedHostSwitchboardServer
	s *Server
}

func (b *switchboardServer) Providers(_ context.Context, r *pluginv1.ProvidersRequest) (*pluginv1.ProvidersResponse, error) {
	if err := b.s.Allowed(grant.Plugins, r.Capability); err != nil {
		return nil, err
	}
	return b.list(r.Capability), nil
}

func (b *switchboardServer) WatchProviders(r *pluginv1.ProvidersRequest, out grpc.ServerStreamingServer[pluginv1.ProvidersResponse]) error {
	d := b.s.services.Directory
	if err := b.s.Allowed(grant.Plugins, r.Capability); err != nil {
		return err
	}
	var sent *pluginv1.ProvidersResponse
	for {
		changed := d.Changed()
		now := b.list(r.Capability)
		if sent == nil || !proto.Equal(steady(sent), steady(now)) {
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

func (b *switchboardServer) list(capability string) *pluginv1.ProvidersResponse {
	res := &pluginv1.ProvidersResponse{}
	for _, p := range b.s.services.Directory.Providers(capability) {
		m := &pluginv1.Provider{Name: p.Name, Version: p.Version, Ready: p.Ready, Labels: p.Labels, Generation: p.Generation}
		if p.RestartIn > 0 {
			m.RestartIn = durationpb.New(p.RestartIn)
		}
		res.Providers = append(res.Providers, m)
	}
	return res
}

// steady leaves out what changes with the clock alone.
func steady(r *pluginv1.ProvidersResponse) *pluginv1.ProvidersResponse {
	c := proto.CloneOf(r)
	for _, p := range c.Providers {
		p.RestartIn = nil
	}
	return c
}
