// Command contract10 is a plugin as it was built against version 1.0 of the contract:
// it has what that version had and knows nothing of what came later. Package sdk is
// not used, because that of today speaks today's contract. The tests of the host run
// it; it is in no catalogue.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/wire"
)

const module = `module contract10 {
  yang-version 1.1;
  namespace "urn:ctl:test:contract10";
  prefix c;
  description "What a plugin of version 1.0 of the contract serves in tests.";
  revision 2026-01-01 { description "First."; }
  rpc echo {
    description "Answers what it was given.";
    input { leaf text { type string; description "Any text."; } }
    output { leaf text { type string; description "The same text."; } }
  }
}
`

func main() {
	versions := []string{"1.0"}
	if v := os.Getenv("CONTRACT"); v != "" { // for a plugin of the future
		versions = strings.Fields(v)
	}
	plugin.Serve(&plugin.ServeConfig{HandshakeConfig: wire.Handshake, GRPCServer: plugin.DefaultGRPCServer,
		Plugins: wire.Set(func(s *grpc.Server) {
			pluginv1.RegisterBaseServer(s, &base{versions: versions})
			pluginv1.RegisterOperationsServer(s, operations{})
		})})
}

// base answers all that 1.0 asks of every plugin.
type base struct {
	pluginv1.UnimplementedBaseServer
	versions []string
}

func (b *base) Describe(context.Context, *pluginv1.DescribeRequest) (*pluginv1.DescribeResponse, error) {
	return &pluginv1.DescribeResponse{Manifest: &pluginv1.Manifest{
		Name: "contract10", Version: "1.0.0", ApiVersions: b.versions, Summary: "Speaks version 1.0 of the contract", Capabilities: []string{"operations"},
		YangModules: []*pluginv1.YangModule{{Name: "contract10", Text: module, Implemented: true}},
		Rpcs:        []*pluginv1.Rpc{{Module: "contract10", Name: "echo", Safe: true}},
	}}, nil
}

func (b *base) Configure(_ context.Context, r *pluginv1.ConfigureRequest) (*pluginv1.ConfigureResponse, error) {
	if !slices.Contains(b.versions, r.ApiVersion) {
		return nil, status.Errorf(codes.InvalidArgument, "the host chose version %q of the contract", r.ApiVersion)
	}
	return &pluginv1.ConfigureResponse{}, nil
}

func (b *base) Health(_ *pluginv1.HealthRequest, s grpc.ServerStreamingServer[pluginv1.HealthResponse]) error {
	if err := s.Send(&pluginv1.HealthResponse{State: pluginv1.HealthResponse_STATE_HEALTHY}); err != nil {
		return err
	}
	<-s.Context().Done()
	return nil
}

func (b *base) Metrics(context.Context, *pluginv1.MetricsRequest) (*pluginv1.MetricsResponse, error) {
	return &pluginv1.MetricsResponse{}, nil
}

func (b *base) Stop(context.Context, *pluginv1.StopRequest) (*pluginv1.StopResponse, error) {
	return &pluginv1.StopResponse{}, nil
}

type operations struct {
	pluginv1.UnimplementedOperationsServer
}

func (operations) Invoke(_ context.Context, r *pluginv1.InvokeRequest) (*pluginv1.InvokeResponse, error) {
	if r.Rpc != "echo" {
		return nil, status.Error(codes.Unimplemented, fmt.Sprintf("no %s", r.Rpc))
	}
	return &pluginv1.InvokeResponse{Output: r.Input}, nil
}
