package sdk

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"ctl.internal/internal/wire/onward"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// The spans of a plugin wait at most spanDelay and at most spanQueue of them; those
// beyond are dropped. spanTime bounds one message to the host.
const (
	spanDelay = time.Second
	spanQueue = 2048
	spanTime  = 5 * time.Second
)

// spans makes a span of each call that belongs to a kept trace and sends it to the
// host, which knows the collector: a plugin needs no exporter and no way out.
type spans struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

func newSpans(ctx context.Context, m *pluginv1.Manifest, h *host.Client) (*spans, error) {
	exporter, err := otlptrace.New(ctx, toHost{h})
	if err != nil {
		return nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { slog.Warn("spans were not sent", "error", err) }))
	p := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter, sdktrace.WithBatchTimeout(spanDelay), sdktrace.WithMaxQueueSize(spanQueue), sdktrace.WithExportTimeout(spanTime)),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", m.Name), attribute.String("service.version", m.Version))),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.NeverSample())))
	return &spans{provider: p, tracer: p.Tracer("ctl.internal/sdk")}, nil
}

// close sends what waits.
func (s *spans) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, spanTime)
	defer cancel()
	if err := s.provider.Shutdown(ctx); err != nil {
		slog.Warn("the last spans were not sent", "error", err)
	}
}

// begin returns the context of a call with a span of its own, if whoever made the call
// keeps the trace; what the handler calls is below the span. end ends it.
func (s *spans) begin(ctx context.Context, method string, req any) (_ context.Context, end func(error)) {
	parent := metadata.ValueFromIncomingContext(ctx, onward.Traceparent)
	if len(parent) != 1 || onward.TraceID(parent[0]) == "" {
		return ctx, func(error) {}
	}
	w3c, md := propagation.TraceContext{}, carrier{}
	md.MD, _ = metadata.FromIncomingContext(ctx) // a copy
	from := w3c.Extract(ctx, md)
	if !trace.SpanContextFromContext(from).IsSampled() {
		return ctx, func(error) {}
	}
	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	attributes := []attribute.KeyValue{attribute.String("rpc.system", "grpc"), attribute.String("rpc.service", service), attribute.String("rpc.method", name)}
	title := service[strings.LastIndexByte(service, '.')+1:] + "/" + name
	if r, ok := req.(*pluginv1.InvokeRequest); ok {
		title = r.Module + ":" + r.Rpc
	}
	ctx, span := s.tracer.Start(from, title, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes...))
	w3c.Inject(ctx, md)
	return metadata.NewIncomingContext(ctx, md.MD), func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, status.Code(err).String()) // the text may hold what the user sent
		}
		span.End()
	}
}

// unary is around each handler of a unary call.
func (s *Server) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, h grpc.UnaryHandler) (_ any, err error) {
	if spans := s.spans.Load(); spans != nil {
		var end func(error)
		ctx, end = spans.begin(ctx, info.FullMethod, req)
		defer func() { end(err) }()
	}
	if err := s.reached(ctx); err != nil {
		return nil, fault.ToStatus(err)
	}
	return s.metrics.unary(ctx, req, info, h)
}

// reached waits until the plugin's data has the revision that a call asks for.
func (s *Server) reached(ctx context.Context) error {
	if c := s.hostClient.Load(); c != nil {
		return c.WaitFor(ctx)
	}
	return nil
}

// stream is around each handler of a stream.
func (s *Server) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, h grpc.StreamHandler) (err error) {
	if spans := s.spans.Load(); spans != nil {
		ctx, end := spans.begin(ss.Context(), info.FullMethod, nil)
		defer func() { end(err) }()
		ss = streamIn{ss, ctx}
	}
	if err := s.reached(ss.Context()); err != nil {
		return fault.ToStatus(err)
	}
	return s.metrics.stream(srv, ss, info, h)
}

// streamIn is a stream with another context.
type streamIn struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s streamIn) Context() context.Context { return s.ctx }

// carrier is metadata for the propagator.
type carrier struct{ metadata.MD }

// Get implements propagation.TextMapCarrier.
func (c carrier) Get(key string) string { return strings.Join(c.MD.Get(key), ",") }

// Set implements propagation.TextMapCarrier.
func (c carrier) Set(key, value string) { c.MD.Set(key, value) }

// Keys implements propagation.TextMapCarrier.
func (c carrier) Keys() []string {
	keys := make([]string, 0, len(c.MD))
	for k := range c.MD {
		keys = append(keys, k)
	}
	return keys
}

// toHost is the exporter's way out.
type toHost struct{ host *host.Client }

// Start implements otlptrace.Client.
func (toHost) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (toHost) Stop(context.Context) error { return nil }

// UploadTraces implements otlptrace.Client.
func (h toHost) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	return h.host.Traces.Export(ctx, spans)
}
