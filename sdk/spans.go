package sdk

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"ctl.internal/internal/wire"
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
// host, which knows the collector: a plugin needs no exporter and no way out. Spans are
// OTLP's messages, without an OpenTelemetry SDK, which would be a tenth of each plugin.
type spans struct {
	host     *host.Client
	resource *resourcepb.Resource
	ended    chan *tracepb.Span
	stop     chan struct{}
	stopped  chan struct{}
}

func newSpans(m *pluginv1.Manifest, h *host.Client) *spans {
	s := &spans{
		host:     h,
		ended:    make(chan *tracepb.Span, spanQueue),
		stop:     make(chan struct{}),
		stopped:  make(chan struct{}),
		resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{stringAttribute("service.name", m.Name), stringAttribute("service.version", m.Version)}},
	}
	go s.runSender()
	return s
}

func stringAttribute(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{
		Key:   key,
		Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}},
	}
}

// runSender sends what has ended, until close.
func (s *spans) runSender() {
	defer close(s.stopped)
	t := time.NewTicker(spanDelay)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.sendEnded()
		case <-s.stop:
			s.sendEnded()
			return
		}
	}
}

func (s *spans) sendEnded() {
	var list []*tracepb.Span
	for range len(s.ended) {
		list = append(list, <-s.ended)
	}
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), spanTime)
	defer cancel()
	err := s.host.Traces.Export(ctx, []*tracepb.ResourceSpans{{
		Resource: s.resource,
		ScopeSpans: []*tracepb.ScopeSpans{{
			Scope: &commonpb.InstrumentationScope{Name: "ctl.internal/sdk"},
			Spans: list,
		}},
	}})
	if err != nil {
		slog.Warn("spans were not sent", "error", err)
	}
}

// close sends what waits.
func (s *spans) close(ctx context.Context) {
	close(s.stop)
	select {
	case <-s.stopped:
	case <-ctx.Done():
	}
}

// beginSpan returns the context of a call with a span of its own, if whoever made the call
// keeps the trace; what the handler calls is below the span. end ends it.
func (s *spans) beginSpan(
	ctx context.Context,
	method string,
	req any,
) (_ context.Context, end func(error)) {
	none := func(error) {}
	md, _ := metadata.FromIncomingContext(ctx) // a copy
	parent := md.Get(onward.Traceparent)
	if len(parent) != 1 || onward.TraceID(parent[0]) == "" {
		return ctx, none
	}
	// version "-" trace "-" span "-" flags, of which bit 0 is sampled (W3C Trace Context 3.2.2)
	raw, err := hex.DecodeString(strings.ReplaceAll(parent[0][:55], "-", ""))
	if err != nil || raw[25]&1 == 0 {
		return ctx, none
	}
	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	title := service[strings.LastIndexByte(service, '.')+1:] + "/" + name
	if r, ok := req.(*pluginv1.InvokeRequest); ok {
		title = r.Module + ":" + r.Rpc
	}
	span := &tracepb.Span{
		TraceId:           raw[1:17],
		ParentSpanId:      raw[17:25],
		SpanId:            spanID(),
		TraceState:        strings.Join(md.Get(onward.Tracestate), ","),
		Name:              title,
		Kind:              tracepb.Span_SPAN_KIND_SERVER,
		StartTimeUnixNano: uint64(time.Now().UnixNano()),
		Flags:             uint32(raw[25]),
		Attributes:        []*commonpb.KeyValue{stringAttribute("rpc.system", "grpc"), stringAttribute("rpc.service", service), stringAttribute("rpc.method", name)},
	}
	md.Set(onward.Traceparent, parent[0][:36]+hex.EncodeToString(span.SpanId)+parent[0][52:])
	return metadata.NewIncomingContext(ctx, md), func(err error) {
		span.EndTimeUnixNano = uint64(time.Now().UnixNano())
		if err != nil { // the text may hold what the user sent
			span.Status = &tracepb.Status{
				Code:    tracepb.Status_STATUS_CODE_ERROR,
				Message: status.Code(err).String(),
			}
		}
		select {
		case s.ended <- span:
		default:
		}
	}
}

func spanID() []byte {
	return binary.BigEndian.AppendUint64(nil, rand.Uint64()|1) // never zero
}

// interceptUnary is around each handler of a unary call.
func (s *Server) interceptUnary(
	ctx context.Context,
	req any,
	info *grpc.UnaryServerInfo,
	h grpc.UnaryHandler,
) (_ any, err error) {
	if spans := s.spans.Load(); spans != nil {
		var end func(error)
		ctx, end = spans.beginSpan(ctx, info.FullMethod, req)
		defer func() { end(err) }()
	}
	if err := s.waitReached(ctx); err != nil {
		return nil, fault.ToStatus(err)
	}
	return s.metrics.interceptUnary(ctx, req, info, h)
}

// waitReached waits until the plugin's data has the revision that a call asks for.
func (s *Server) waitReached(ctx context.Context) error {
	if c := s.hostClient.Load(); c != nil {
		return c.WaitFor(ctx)
	}
	return nil
}

// interceptStream is around each handler of a stream.
func (s *Server) interceptStream(
	srv any,
	ss grpc.ServerStream,
	info *grpc.StreamServerInfo,
	h grpc.StreamHandler,
) (err error) {
	if spans := s.spans.Load(); spans != nil {
		ctx, end := spans.beginSpan(ss.Context(), info.FullMethod, nil)
		defer func() { end(err) }()
		ss = wire.StreamWith(ctx, ss)
	}
	if err := s.waitReached(ss.Context()); err != nil {
		return fault.ToStatus(err)
	}
	return s.metrics.interceptStream(srv, ss, info, h)
}
