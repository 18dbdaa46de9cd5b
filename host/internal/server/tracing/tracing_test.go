package tracing

import (
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSpansReachTheCollector: a request becomes a span below the client's, and what
// is behind belongs to the span.
func TestSpansReachTheCollector(t *testing.T) {
	got := make(chan *tracepb.Span, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m collectorpb.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		for _, rs := range m.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					got <- s
				}
			}
		}
	}))
	defer collector.Close()
	tr, err := New(t.Context(), collector.URL+"/v1/traces", "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var inside trace.SpanContext
	h := tr.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inside = trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(r.Header)))
		w.WriteHeader(503)
		w.(http.Flusher).Flush()
	}))
	r := httptest.NewRequest("GET", "/restconf/data/x", nil)
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if !w.Flushed || w.Code != 503 {
		t.Errorf("flushed %v, status %d", w.Flushed, w.Code)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := tr.Close(ctx); err != nil {
		t.Fatal(err)
	}
	s := <-got
	if hex.EncodeToString(s.TraceId) != "0af7651916cd43dd8448eb211c80319c" || hex.EncodeToString(s.ParentSpanId) != "b7ad6b7169203331" ||
		s.Name != "GET /restconf" || s.Status.Code != tracepb.Status_STATUS_CODE_ERROR {
		t.Errorf("%v", s)
	}
	if hex.EncodeToString(s.SpanId) != inside.SpanID().String() || inside.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("behind: %v", inside)
	}
}

// TestCollectorThatIsDown costs a request nothing.
func TestCollectorThatIsDown(t *testing.T) {
	tr, err := New(t.Context(), "http://127.0.0.1:1/v1/traces", "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	tr.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("x")) })).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Body.String() != "x" {
		t.Error(w.Body)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = tr.Close(ctx) // the span is lost
}
