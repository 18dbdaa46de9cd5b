package host

import (
	"context"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"ctl.internal/sdk/fault"
)

// Traces takes the spans of a plugin, which the host hands on to its collector. The
// service is OTLP's own (opentelemetry.proto.collector.trace.v1.TraceService), so that
// a plugin in another language may use an exporter it has.
type Traces struct {
	conn grpc.ClientConnInterface
}

// Export sends ended spans, at most 4 MiB. fault.Unavailable when the host keeps none
// (wire.EnvTraces is not set) or its collector cannot be reached.
func (t *Traces) Export(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData has the fields of ExportTraceServiceRequest, whose package would bring an
	// HTTP gateway into every plugin.
	err := t.conn.Invoke(ctx, "/opentelemetry.proto.collector.trace.v1.TraceService/Export", &tracepb.TracesData{ResourceSpans: spans}, &emptypb.Empty{})
	return fault.FromStatus(err)
}
