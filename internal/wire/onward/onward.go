// Package onward is what a call hands on to the calls that are made to serve it:
// the trace it belongs to (W3C Trace Context) and how many relays it has passed.
// Authors of plugins do not need it: the clients in package host use it when they
// are given the context of the handler. Who the caller is, is package caller.
package onward

import (
	"context"
	"log/slog"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// Metadata of a call, of HTTP headers the same names.
const (
	Traceparent = "traceparent" // W3C Trace Context: version-trace-parent-flags
	Tracestate  = "tracestate"
	Hops        = "ctl-hops" // times the call has passed the host between plugins
	// StoreLeft is how many milliseconds the call may still wait for the datastore.
	StoreLeft = "ctl-store-left"
)

// MaxHops is how often a call may pass the host between plugins.
const MaxHops = 8

// maxTracestate is the length that Trace Context asks to propagate at least.
const maxTracestate = 512

// Continue returns a context whose outgoing calls belong to the call that ctx is
// serving. Without one, or without anything to hand on, it is ctx itself.
func Continue(ctx context.Context) context.Context {
	in, ok := metadata.FromIncomingContext(ctx)
	if !ok {
		return ctx
	}
	out, _ := metadata.FromOutgoingContext(ctx)
	var pairs []string
	for _, k := range [...]string{Traceparent, Tracestate, Hops, StoreLeft} {
		if v := in[k]; len(v) == 1 && len(out[k]) == 0 {
			pairs = append(pairs, k, v[0])
		}
	}
	if pairs == nil {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

// Relayed is Continue for the host, which passes a call on to another plugin: it
// counts one hop more. Hops reports how many there were before.
func Relayed(ctx context.Context) (_ context.Context, hops int) {
	in, _ := metadata.FromIncomingContext(ctx)
	hops = HopsOf(in)
	pairs := []string{Hops, strconv.Itoa(hops + 1)}
	for _, k := range [...]string{Traceparent, Tracestate} {
		if v := in[k]; len(v) == 1 {
			pairs = append(pairs, k, v[0])
		}
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...), hops
}

// HopsOf reads how many relays a call has passed; what is no number counts as too
// many.
func HopsOf(md metadata.MD) int {
	v := md[Hops]
	if len(v) == 0 {
		return 0
	}
	n, err := strconv.Atoi(v[0])
	if err != nil || n < 0 {
		return MaxHops
	}
	return n
}

// WithTrace returns a context whose outgoing calls belong to a trace. Headers that
// are not as Trace Context says are left out, as it says.
func WithTrace(ctx context.Context, parent, state string) context.Context {
	if TraceID(parent) == "" {
		return ctx
	}
	if state == "" || len(state) > maxTracestate {
		return metadata.AppendToOutgoingContext(ctx, Traceparent, parent)
	}
	return metadata.AppendToOutgoingContext(ctx, Traceparent, parent, Tracestate, state)
}

// TraceID returns the trace of a traceparent: 32 hex digits, empty when it is not
// well-formed.
func TraceID(parent string) string {
	if len(parent) < 55 || parent[2] != '-' || parent[35] != '-' || parent[52] != '-' ||
		len(parent) > 55 && (parent[:2] == "00" || parent[55] != '-') || len(parent) > 256 {
		return ""
	}
	version, trace, span, flags := parent[:2], parent[3:35], parent[36:52], parent[53:55]
	if !isHex(version) || version == "ff" ||
		!isHex(trace) || !isHex(span) || !isHex(flags) || isZeroHex(trace) || isZeroHex(span) {
		return ""
	}
	return parent[3:35]
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}

func isZeroHex(s string) bool {
	return strings.Trim(s, "0") == ""
}

// TraceOf returns the trace that ctx belongs to, whether it serves a call of it or
// creates one; empty without a trace.
func TraceOf(ctx context.Context) string {
	if v := metadata.ValueFromIncomingContext(ctx, Traceparent); len(v) == 1 {
		return TraceID(v[0])
	}
	md, ok := metadata.FromOutgoingContext(ctx)
	if ok && len(md[Traceparent]) > 0 {
		return TraceID(md[Traceparent][0])
	}
	return ""
}

// LogKey is the attribute of log lines that belong to a trace.
const LogKey = "trace_id"

// LogHandler returns a handler that adds the trace of the context, if there is one.
func LogHandler(h slog.Handler) slog.Handler {
	return logHandler{h}
}

type logHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	if id := TraceOf(ctx); id != "" {
		r = r.Clone()
		r.AddAttrs(slog.String(LogKey, id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(a []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(a)}
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.Handler.WithGroup(name)}
}

// DialOptions make a client hand on what its contexts carry.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			return invoke(Continue(ctx), method, req, reply, cc, opts...)
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			return stream(Continue(ctx), desc, cc, method, opts...)
		}),
	}
}
