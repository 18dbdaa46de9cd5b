package topology

import (
	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Register serves a source on a gRPC server; sdk.Serve does this for a plugin.
func Register(s grpc.ServiceRegistrar, src Source) {
	pluginv1.RegisterTopologyServer(s, &server{source: src})
}

type server struct {
	pluginv1.UnimplementedTopologyServer
	source Source
}

func (s *server) Watch(r *pluginv1.WatchTopologyRequest, stream grpc.ServerStreamingServer[pluginv1.WatchTopologyResponse]) error {
	var failed error
	err := s.source.Watch(stream.Context(), r.TopologyIds, func(c Change) error {
		return stream.Send(toProto(c))
	}, func() {
		failed = stream.Send(&pluginv1.WatchTopologyResponse{Synchronized: true})
	})
	if failed != nil {
		return failed
	}
	return fault.ToStatus(err)
}
