package onward

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc/metadata"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestTraceID(t *testing.T) {
	for in, want := range map[string]string{
		parent: "4bf92f3577b34da6a3ce929d0e0e4736",
		"cc" + parent[2:] + "-what-the-future-will-be-like": "4bf92f3577b34da6a3ce929d0e0e4736",
		"":                      "",
		"00-4bf9":               "",
		parent + "-x":           "", // version 00 has no more
		"cc" + parent[2:] + "x": "",
		"ff" + parent[2:]:       "",
		strings.ToUpper(parent): "",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01": "",
		strings.Replace(parent, "-01", "\n01", 1):                 "",
		"cc" + parent[2:] + "-" + strings.Repeat("x", 500):        "",
	} {
		if got := TraceID(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func FuzzTraceID(f *testing.F) {
	f.Add(parent)
	f.Fuzz(func(t *testing.T, s string) {
		if id := TraceID(s); id != "" && (len(id) != 32 || !isHex(id) || !strings.Contains(s, id)) {
			t.Errorf("%q: %q", s, id)
		}
	})
}

func outgoing(ctx context.Context) metadata.MD {
	md, _ := metadata.FromOutgoingContext(ctx)
	return md
}

func TestWhatIsHandedOn(t *testing.T) {
	serving := metadata.NewIncomingContext(t.Context(), metadata.Pairs(Traceparent, parent, Tracestate, "a=b", Hops, "3", "authorization", "secret", "ctl-token", "secret"))
	if md := outgoing(Continue(serving)); md.Len() != 3 || md.Get(Traceparent)[0] != parent || md.Get(Tracestate)[0] != "a=b" || md.Get(Hops)[0] != "3" {
		t.Errorf("a plugin hands on %v", md)
	}
	if md := outgoing(Continue(Continue(serving))); len(md.Get(Traceparent)) != 1 {
		t.Errorf("handed on twice: %v", md)
	}
	ctx, hops := Relayed(serving)
	if md := outgoing(ctx); hops != 3 || md.Len() != 3 || md.Get(Hops)[0] != "4" {
		t.Errorf("the host hands on %v after %d", md, hops)
	}
	if ctx := Continue(t.Context()); ctx != t.Context() {
		t.Error("something is handed on without a call")
	}
	for in, want := range map[string]int{"": 0, "7": 7, "-1": MaxHops, "x": MaxHops, "99999999999999999999": MaxHops} {
		md := metadata.MD{}
		if in != "" {
			md.Set(Hops, in)
		}
		if got := HopsOf(md); got != want {
			t.Errorf("hops %q: %d", in, got)
		}
	}
}

func TestTraceOfARequest(t *testing.T) {
	if ctx := WithTrace(t.Context(), "nonsense", "a=b"); ctx != t.Context() {
		t.Error("nonsense is handed on")
	}
	ctx := WithTrace(t.Context(), parent, strings.Repeat("x", maxTracestate+1))
	if md := outgoing(ctx); md.Len() != 1 || TraceOf(ctx) != parent[3:35] {
		t.Errorf("%v", md)
	}
	var b bytes.Buffer
	log := slog.New(LogHandler(slog.NewTextHandler(&b, nil))).With("a", 1).WithGroup("g")
	log.InfoContext(ctx, "with")
	log.InfoContext(t.Context(), "without")
	lines := strings.Split(b.String(), "\n")
	if !strings.Contains(lines[0], "trace_id="+parent[3:35]) || strings.Contains(lines[1], "trace_id") {
		t.Error(b.String())
	}
}
