// Package wire holds what both ends of a host-plugin connection must agree on.
// Authors do not need it: sdk.Serve uses it on their side.
package wire

import (
	"context"
	"slices"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// Handshake is go-plugin's handshake. Its version is that of the wire only and
// hardly ever moves; what may be called is negotiated by APIVersions.
var Handshake = plugin.HandshakeConfig{
	ProtocolVersion:  1,
	MagicCookieKey:   "CTL_PLUGIN",
	MagicCookieValue: "ctl.plugin.v1",
}

// PluginName is the one name in go-plugin's plugin set.
const PluginName = "ctl"

// APIVersions are the versions of the contract this build speaks, newest first.
var APIVersions = []string{"1.0"}

// Negotiate returns the newest version of the contract that this build and a plugin
// that announces the given ones both speak; "" when there is none.
func Negotiate(announced []string) string {
	for _, v := range APIVersions {
		if slices.Contains(announced, v) {
			return v
		}
	}
	return ""
}

// MaxMessage bounds a gRPC message in both directions, in bytes.
const MaxMessage = 64 << 20

// Set is the plugin set for go-plugin. The host passes a nil register function and
// gets the *grpc.ClientConn when it dispenses PluginName.
func Set(register func(*grpc.Server)) plugin.PluginSet {
	return plugin.PluginSet{PluginName: &grpcPlugin{register: register}}
}

// ServerOptions are the options of every gRPC server of the contract.
func ServerOptions(more ...grpc.ServerOption) []grpc.ServerOption {
	return append([]grpc.ServerOption{
		grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage),
	}, more...)
}

// DialOptions are the options of every gRPC client of the contract.
func DialOptions(more ...grpc.DialOption) []grpc.DialOption {
	return append([]grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage)),
	}, more...)
}

type grpcPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	register func(*grpc.Server)
}

func (p *grpcPlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	p.register(s)
	return nil
}

func (p *grpcPlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return c, nil
}
