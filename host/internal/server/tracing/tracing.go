// Package tracing sends a span for each HTTP request, and the spans of plugins, to a
// collector that speaks OTLP over HTTP. It runs only when tracing.endpoint is set; what passes a trace on to
// plugins is package internal/wire/onward, which needs no collector.
package tracing

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// sendTime bounds one message to the collector, and queue the spans that wait: those
// beyond are dropped, for a collector that is down must not cost memory.
const (
	sendTime = 10 * time.Second
	queue    = 4096
)

// Tracer makes and sends spans.
type Tracer struct {
	client   otlptrace.Client
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// New returns a Tracer for the endpoint, "http://127.0.0.1:4318/v1/traces". It does
// not wait for the collector; what goes wrong with it later is logged.
func New(ctx context.Context, endpoint, version string, log *slog.Logger) (*Tracer, error) {
	client := otlptracehttp.NewClient(otlptracehttp.WithEndpointURL(endpoint), otlptracehttp.WithTimeout(sendTime),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false}))
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("spans were not sent", "error", err)
	}))
	p := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter, sdktrace.WithMaxQueueSize(queue)),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "ctld"),
			attribute.String("service.version", version),
		)),
		// Who sends a trace decides whether it is kept; what begins here is.
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample())))
	return &Tracer{
		client:   client,
		provider: p,
		tracer:   p.Tracer("ctl.internal/host"),
	}, nil
}

// Close sends what waits, while ctx lasts.
func (t *Tracer) Close(ctx context.Context) error {
	return t.provider.Shutdown(ctx)
}

// Upload sends spans that others have made: those of plugins.
func (t *Tracer) Upload(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	return t.client.UploadTraces(ctx, spans)
}

// Handler gives each request a span, a child of the one that the client sent. The
// request goes on with the traceparent of the span, so that all after it belongs to it.
func (t *Tracer) Handler(next http.Handler) http.Handler {
	w3c := propagation.TraceContext{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := w3c.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		ctx, span := t.tracer.Start(ctx, r.Method+" /"+first, trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(
				attribute.String("http.request.method", r.Method),
				attribute.String("url.path", r.URL.Path),
			))
		defer span.End()
		w3c.Inject(ctx, propagation.HeaderCarrier(r.Header))
		s := NewStatusWriter(w)
		next.ServeHTTP(s, r)
		span.SetAttributes(attribute.Int("http.response.status_code", s.Status))
		if s.Status >= 500 {
			span.SetStatus(codes.Error, "")
		}
	})
}

// StatusWriter remembers the status of an answer.
type StatusWriter struct {
	http.ResponseWriter
	Status int
}

// NewStatusWriter returns one for an answer that has not begun.
func NewStatusWriter(w http.ResponseWriter) *StatusWriter {
	return &StatusWriter{w, http.StatusOK}
}

// WriteHeader implements http.ResponseWriter.
func (w *StatusWriter) WriteHeader(status int) {
	w.Status = status
	w.ResponseWriter.WriteHeader(status)
}

// Flush implements http.Flusher, for event streams.
func (w *StatusWriter) Flush() {
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (w *StatusWriter) Unwrap() http.ResponseWriter {
	return w.ResponseWriter
}
