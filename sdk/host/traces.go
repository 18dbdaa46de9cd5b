package host

import (
	"context"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"ctl.internal/sdk/fault"
)

// Traces takes the spans of a plugin, which the host hands on to its collector. The
// service is OTLP's own (opentelemetry.proto.collector.trace.v1.TraceService), so that
// a plugin in another language may use an exporter it has.
type Traces struct {
	rpc collectorpb.TraceServiceClient
}

func newTraces(c grpc.ClientConnInterface) *Traces {
	return &Traces{collectorpb.NewTraceServiceClient(c)}
}

// Export sends ended spans, at most 4 MiB. fault.Unavailable when the host keeps none
// (wire.EnvTraces is not set) or its collector cannot be reached.
func (t *Traces) Export(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	_, err := t.rpc.Export(ctx, &collectorpb.ExportTraceServiceRequest{ResourceSpans: spans})
	return fault.FromStatus(err)
}
