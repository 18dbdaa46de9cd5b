package rig

import (
	"context"
	"os/exec"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// Plugin starts a plugin and configures it, as a host does, without a host: its socket is named and never
// answers. The process ends with Kill.
func Plugin(ctx context.Context, cmd *exec.Cmd) (*plugin.Client, *grpc.ClientConn, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	process := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  wire.Handshake,
		Plugins:          wire.Set(nil),
		AutoMTLS:         true,
		Cmd:              cmd,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(),
		GRPCDialOptions:  wire.DialOptions(),
		SkipHostEnv:      cmd.Env != nil,
	})
	conn, err := connectPlugin(ctx, process)
	if err != nil {
		process.Kill()
		return nil, nil, err
	}
	return process, conn, nil
}

func connectPlugin(ctx context.Context, process *plugin.Client) (*grpc.ClientConn, error) {
	rpc, err := process.Client()
	if err != nil {
		return nil, err
	}
	raw, err := rpc.Dispense(wire.PluginName)
	if err != nil {
		return nil, err
	}
	conn := raw.(*grpc.ClientConn)
	_, err = pluginv1.NewBaseClient(conn).Configure(
		ctx,
		&pluginv1.ConfigureRequest{
			ApiVersion: wire.APIVersions[0],
			HostSocket: "/nonexistent",
			HostToken:  "none",
		},
	)
	return conn, err
}
