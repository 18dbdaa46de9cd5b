package hostsvc

import (
	"context"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/fault"
)

// Spans is the way to the collector.
type Spans interface {
	Upload(ctx context.Context, spans []*tracepb.ResourceSpans) error
}

// maxSpans bounds one message of spans, in bytes.
const maxSpans = 4 << 20

type tracesServer struct {
	collectorpb.UnimplementedTraceServiceServer
	s *Server
}

// Export hands the spans of a plugin on to the collector. They are the plugin's,
// whatever it says about their origin.
func (t *tracesServer) Export(
	ctx context.Context,
	r *collectorpb.ExportTraceServiceRequest,
) (*collectorpb.ExportTraceServiceResponse, error) {
	if t.s.services.Spans == nil {
		return nil, absentServiceError("collector of spans (tracing.endpoint in etc/ctl.yaml)")
	}
	if n := proto.Size(r); n > maxSpans {
		return nil, fault.New(
			fault.TooBig,
			"the spans have %d bytes; at most %d are accepted at once",
			n,
			maxSpans,
		)
	}
	if !t.s.uploading.TryLock() {
		return nil, fault.New(
			fault.Unavailable,
			"earlier spans of the plugin are being sent; try again later",
		)
	}
	defer t.s.uploading.Unlock()
	for _, rs := range r.ResourceSpans {
		if rs != nil {
			rs.Resource = pluginResource(rs.Resource, t.s.plugin)
		}
	}
	if err := t.s.services.Spans.Upload(ctx, r.ResourceSpans); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the collector did not accept the spans")
	}
	return &collectorpb.ExportTraceServiceResponse{}, nil
}

// pluginResource is a resource whose service is the plugin.
func pluginResource(r *resourcepb.Resource, plugin string) *resourcepb.Resource {
	out := &resourcepb.Resource{Attributes: []*commonpb.KeyValue{
		{
			Key:   "service.name",
			Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: plugin}},
		},
		{
			Key:   "service.namespace",
			Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: "ctl"}},
		},
	}}
	for _, a := range r.GetAttributes() {
		k := a.GetKey()
		if k != "service.name" && k != "service.namespace" {
			out.Attributes = append(out.Attributes, a)
		}
	}
	return out
}
