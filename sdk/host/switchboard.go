package host

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Switchboard leads to other plugins: it lists who serves a capability, and a
// connection to one of them goes through the host, which relays the frames.
type Switchboard struct {
	rpc  pluginv1.HostSwitchboardClient
	conn grpc.ClientConnInterface
}

// Provider is a plugin that serves a capability.
type Provider struct {
	Name       string
	Version    string
	Ready      bool              // false while it restarts or has failed
	Labels     map[string]string // from its manifest
	Generation uint64            // grows when its process is replaced
	RestartIn  time.Duration     // when not ready: expected time to the next start
}

// Providers lists who serves a capability ("switchdriver", "topology", …).
func (s *Switchboard) Providers(ctx context.Context, capability string) ([]Provider, error) {
	r, err := s.rpc.Providers(ctx, &pluginv1.ProvidersRequest{Capability: capability})
	if err != nil {
		return nil, fault.FromStatus(err)
	}
	return providersFromProto(r), nil
}

// Watch calls f with the list now and after each change, until ctx ends or f fails.
func (s *Switchboard) Watch(
	ctx context.Context,
	capability string,
	f func([]Provider) error,
) error {
	return forEachMessage(ctx, s.rpc.WatchProviders, &pluginv1.ProvidersRequest{Capability: capability},
		func(r *pluginv1.ProvidersResponse) error { return f(providersFromProto(r)) })
}

// Dial returns a connection to a provider for the generated or SDK clients, for
// example switchdriver.NewClient(sb.Dial("switch-driver-dlink")). It costs nothing
// until it is used and needs no closing. The manifest must name the capability
// under `uses`.
func (s *Switchboard) Dial(provider string) grpc.ClientConnInterface {
	return &relayed{conn: s.conn, provider: provider}
}

type relayed struct {
	conn     grpc.ClientConnInterface
	provider string
}

func (r *relayed) Invoke(
	ctx context.Context,
	method string,
	args, reply any,
	opts ...grpc.CallOption,
) error {
	return r.conn.Invoke(metadata.AppendToOutgoingContext(ctx, wire.MetaProvider, r.provider), method, args, reply, opts...)
}

func (r *relayed) NewStream(
	ctx context.Context,
	desc *grpc.StreamDesc,
	method string,
	opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	return r.conn.NewStream(metadata.AppendToOutgoingContext(ctx, wire.MetaProvider, r.provider), desc, method, opts...)
}

func providersFromProto(r *pluginv1.ProvidersResponse) []Provider {
	out := make([]Provider, 0, len(r.Providers))
	for _, p := range r.Providers {
		out = append(out, Provider{
			Name:       p.Name,
			Version:    p.Version,
			Ready:      p.Ready,
			Labels:     p.Labels,
			Generation: p.Generation,
			RestartIn:  p.RestartIn.AsDuration(),
		})
	}
	return out
}

// Watcher is what Follow needs of a Switchboard.
type Watcher interface {
	Watch(ctx context.Context, capability string, f func([]Provider) error) error
}

// The times between two tries to watch again.
const (
	followFirst = time.Second
	followMost  = 30 * time.Second
)

// Follow calls f with the providers of a capability now and after each change, until ctx ends. A watch
// that is lost is opened again; what f was called with last holds meanwhile.
func Follow(
	ctx context.Context,
	w Watcher,
	capability string,
	log *slog.Logger,
	f func([]Provider),
) {
	for pause := followFirst; ctx.Err() == nil; pause = min(2*pause, followMost) {
		err := w.Watch(ctx, capability, func(list []Provider) error {
			pause = followFirst
			f(list)
			return nil
		})
		if ctx.Err() != nil {
			return
		}
		log.Warn(
			"the plugins with a capability are not followed for the moment",
			"capability",
			capability,
			"err",
			err,
		)
		Pause(ctx, pause)
	}
}

// Pause waits for d, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
