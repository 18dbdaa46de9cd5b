package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 60 * time.Second

// plugin is a plugin's end whose Invoke does what the name of the RPC says.
type plugin struct {
	pluginv1.UnimplementedOperationsServer
	entered chan string // RPCs that have begun
	left    chan error  // how the contexts of those that wait ended
	release chan struct{}
}

func (p *plugin) Invoke(ctx context.Context, r *pluginv1.InvokeRequest) (*pluginv1.InvokeResponse, error) {
	switch r.Rpc {
	case "echo":
		return &pluginv1.InvokeResponse{Output: r.Input}, nil
	case "big":
		return &pluginv1.InvokeResponse{Output: pattern(len(r.Input) * 1000)}, nil
	case "too-big":
		return &pluginv1.InvokeResponse{Output: make([]byte, wire.MaxMessage+1)}, nil
	case "fault":
		return nil, fault.ToStatus(fault.List{{Kind: fault.Invalid, Text: "no", Path: "/a"}, {Kind: fault.TooBig, Text: "large", Source: fault.SourceDevice}})
	case "plain-error":
		return nil, errors.New("just so")
	case "context-error":
		return nil, fmt.Errorf("wrapped: %w", context.DeadlineExceeded)
	case "nothing":
		return &pluginv1.InvokeResponse{}, nil
	case "metadata":
		md, _ := metadata.FromIncomingContext(ctx)
		return &pluginv1.InvokeResponse{Output: []byte(strings.Join(md.Get("traceparent"), ",") + "|" + strings.Join(md.Get("x-two"), ",") + "|" + strings.Join(md.Get("x-bin"), ","))}, nil
	case "deadline":
		d, ok := ctx.Deadline()
		return &pluginv1.InvokeResponse{Output: fmt.Appendf(nil, "%v %v", ok, ok && time.Until(d) > 0 && time.Until(d) <= patience)}, nil
	case "panic":
		panic("on purpose")
	case "wait":
		p.entered <- r.Rpc
		<-ctx.Done()
		p.left <- ctx.Err()
		return nil, ctx.Err()
	case "hold":
		p.entered <- r.Rpc
		<-p.release
		return &pluginv1.InvokeResponse{}, nil
	}
	return nil, fault.ToStatus(fault.New(fault.Unsupported, "no such RPC"))
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7 >> 3)
	}
	return b
}

func recovering(ctx context.Context, req any, _ *grpc.UnaryServerInfo, h grpc.UnaryHandler) (_ any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = status.Errorf(codes.Internal, "caught %v", v)
		}
	}()
	return h(ctx, req)
}

type rig struct {
	*plugin
	conn   grpc.ClientConnInterface
	server *grpc.Server
	raw    *grpc.ClientConn
}

// start serves a plugin; linked says by which way it is called.
func start(t *testing.T, linked bool) *rig {
	t.Helper()
	p := &plugin{entered: make(chan string, 100), left: make(chan error, 100), release: make(chan struct{})}
	lis := bufconn.Listen(1 << 20)
	g := grpc.NewServer(wire.ServerOptions(grpc.UnaryInterceptor(recovering))...)
	var to grpc.ServiceRegistrar = g
	if linked {
		to = NewServer(g, recovering)
	}
	pluginv1.RegisterOperationsServer(to, p)
	served := make(chan struct{})
	go func() { defer close(served); _ = g.Serve(lis) }()
	raw, err := grpc.NewClient("passthrough:///p", wire.DialOptions(grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := Open(ctx, raw)
	if err != nil || conn.Linked() != linked {
		t.Fatalf("open: %v, linked %v", err, conn.Linked())
	}
	t.Cleanup(func() { conn.Close(); raw.Close(); g.Stop(); <-served })
	return &rig{plugin: p, conn: conn, server: g, raw: raw}
}

func (r *rig) call(ctx context.Context, rpc string, input []byte) ([]byte, error) {
	res, err := pluginv1.NewOperationsClient(r.conn).Invoke(ctx, &pluginv1.InvokeRequest{Rpc: rpc, Input: input}, grpc.StaticMethod())
	return res.GetOutput(), err
}

// TestBothWays is the conformance of the two ways a call can go: each case must hold
// for a call of its own and for one over the link.
func TestBothWays(t *testing.T) {
	cases := map[string]func(*testing.T, context.Context, *rig){
		"an answer": func(t *testing.T, ctx context.Context, r *rig) {
			if out, err := r.call(ctx, "echo", []byte("hello")); err != nil || string(out) != "hello" {
				t.Fatalf("%q %v", out, err)
			}
		},
		"an empty answer": func(t *testing.T, ctx context.Context, r *rig) {
			if out, err := r.call(ctx, "nothing", nil); err != nil || len(out) != 0 {
				t.Fatalf("%q %v", out, err)
			}
		},
		"answers of all sizes": func(t *testing.T, ctx context.Context, r *rig) {
			for _, n := range []int{1, 16, 17, 33, 1500} {
				out, err := r.call(ctx, "big", make([]byte, n))
				if err != nil || string(out) != string(pattern(n*1000)) {
					t.Fatalf("%d bytes for %d: %v", len(out), n*1000, err)
				}
			}
		},
		"requests of all sizes": func(t *testing.T, ctx context.Context, r *rig) {
			for _, n := range []int{0, 1, maxRequest - 100, maxRequest, maxRequest + 1, 1 << 20} {
				in := pattern(n)
				if out, err := r.call(ctx, "echo", in); err != nil || string(out) != string(in) {
					t.Fatalf("%d bytes for %d: %v", len(out), n, err)
				}
			}
		},
		"an answer that is too large": func(t *testing.T, ctx context.Context, r *rig) {
			if _, err := r.call(ctx, "too-big", nil); status.Code(err) != codes.ResourceExhausted {
				t.Fatal(err)
			}
			if out, err := r.call(ctx, "echo", []byte("still")); err != nil || string(out) != "still" {
				t.Fatalf("afterwards: %q %v", out, err)
			}
		},
		"faults keep kind, path and source": func(t *testing.T, ctx context.Context, r *rig) {
			_, err := r.call(ctx, "fault", nil)
			all := fault.All(fault.FromStatus(err))
			if len(all) != 2 || all[0].Kind != fault.Invalid || all[0].Path != "/a" || all[1].Kind != fault.TooBig || all[1].Source != fault.SourceDevice {
				t.Fatalf("%+v", all)
			}
		},
		"other errors": func(t *testing.T, ctx context.Context, r *rig) {
			for rpc, want := range map[string]string{
				"plain-error": "rpc error: code = Unknown desc = just so", "context-error": "rpc error: code = DeadlineExceeded desc = wrapped: context deadline exceeded",
				"panic": "rpc error: code = Internal desc = caught on purpose",
			} {
				if _, err := r.call(ctx, rpc, nil); err == nil || err.Error() != want {
					t.Errorf("%s: %v", rpc, err)
				}
			}
		},
		"what is not served": func(t *testing.T, ctx context.Context, r *rig) {
			for method, want := range map[string]string{
				"/ctl.plugin.v1.Operations/Nothing": "unknown method Nothing for service ctl.plugin.v1.Operations",
				"/ctl.plugin.v1.Realm/Authenticate": "unknown service ctl.plugin.v1.Realm",
			} {
				err := r.conn.Invoke(ctx, method, &pluginv1.InvokeRequest{}, &pluginv1.InvokeResponse{})
				if status.Code(err) != codes.Unimplemented || status.Convert(err).Message() != want {
					t.Errorf("%s: %v", method, err)
				}
			}
		},
		"metadata": func(t *testing.T, ctx context.Context, r *rig) {
			one := metadata.NewOutgoingContext(ctx, metadata.Pairs("traceparent", "00-1", "x-two", "a"))
			many := metadata.NewOutgoingContext(ctx, metadata.Pairs("traceparent", "00-1", "x-two", "a", "x-two", "b", "x-bin", "\xff"))
			if out, err := r.call(one, "metadata", nil); err != nil || string(out) != "00-1|a|" {
				t.Errorf("%q %v", out, err)
			}
			if out, err := r.call(many, "metadata", nil); err != nil || string(out) != "00-1|a,b|\xff" {
				t.Errorf("%q %v", out, err)
			}
		},
		"the deadline arrives": func(t *testing.T, ctx context.Context, r *rig) {
			if out, err := r.call(ctx, "deadline", nil); err != nil || string(out) != "true true" {
				t.Fatalf("%q %v", out, err)
			}
		},
		"no deadline": func(t *testing.T, ctx context.Context, r *rig) {
			if out, err := r.call(context.WithoutCancel(ctx), "deadline", nil); err != nil || string(out) != "false false" {
				t.Fatalf("%q %v", out, err)
			}
		},
		"a deadline that passes": func(t *testing.T, ctx context.Context, r *rig) {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			if _, err := r.call(ctx, "wait", nil); status.Code(err) != codes.DeadlineExceeded {
				t.Fatal(err)
			}
		},
		"a call cancelled before it began": func(t *testing.T, ctx context.Context, r *rig) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			if _, err := r.call(ctx, "echo", nil); status.Code(err) != codes.Canceled {
				t.Fatal(err)
			}
		},
		"a cancellation reaches the handler": func(t *testing.T, ctx context.Context, r *rig) {
			const n = 50
			cctx, cancel := context.WithCancel(ctx)
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() {
					if _, err := r.call(cctx, "wait", nil); status.Code(err) != codes.Canceled {
						t.Error(err)
					}
				})
			}
			for range n {
				<-r.entered
			}
			cancel()
			wg.Wait()
			for range n {
				if err := <-r.left; !errors.Is(err, context.Canceled) {
					t.Errorf("a handler ended with %v", err)
				}
			}
		},
		"slow calls do not hold up others": func(t *testing.T, ctx context.Context, r *rig) {
			var wg sync.WaitGroup
			for range 80 {
				wg.Go(func() {
					if _, err := r.call(ctx, "hold", nil); err != nil {
						t.Error(err)
					}
				})
			}
			for range 80 {
				<-r.entered
			}
			if out, err := r.call(ctx, "echo", []byte("quick")); err != nil || string(out) != "quick" {
				t.Errorf("%q %v", out, err)
			}
			close(r.release)
			wg.Wait()
		},
		"many at once, small and large, some cancelled": func(t *testing.T, ctx context.Context, r *rig) {
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Go(func() {
					for j := range 20 {
						in := fmt.Appendf(nil, "%d-%d", i, j)
						switch {
						case i%8 == 0:
							if out, err := r.call(ctx, "big", in[:1+j%3]); err != nil || string(out) != string(pattern(1000*(1+j%3))) {
								t.Errorf("%d bytes %v", len(out), err)
							}
						case i%8 == 1:
							cctx, cancel := context.WithCancel(ctx)
							go cancel()
							out, err := r.call(cctx, "big", make([]byte, 100))
							if status.Code(err) != codes.Canceled && (err != nil || string(out) != string(pattern(100_000))) {
								t.Errorf("%d bytes %v", len(out), err)
							}
						default:
							if out, err := r.call(ctx, "echo", in); err != nil || string(out) != string(in) {
								t.Errorf("%q for %q: %v", out, in, err)
							}
						}
					}
				})
			}
			wg.Wait()
		},
		"the end of the plugin ends its calls": func(t *testing.T, ctx context.Context, r *rig) {
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() {
					if _, err := r.call(ctx, "wait", nil); status.Code(err) != codes.Unavailable {
						t.Error(err)
					}
				})
			}
			for range 20 {
				<-r.entered
			}
			r.server.Stop()
			wg.Wait()
			if _, err := r.call(ctx, "echo", nil); status.Code(err) != codes.Unavailable {
				t.Errorf("after the end: %v", err)
			}
		},
		"streams": func(t *testing.T, ctx context.Context, r *rig) {
			s, err := r.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/ctl.plugin.v1.Nobody/Watch")
			if err == nil {
				err = s.RecvMsg(&pluginv1.InvokeResponse{})
			}
			if status.Code(err) != codes.Unimplemented {
				t.Fatal(err)
			}
		},
	}
	for name, run := range cases {
		for _, linked := range []bool{false, true} {
			way := "call"
			if linked {
				way = "link"
			}
			t.Run(name+"/"+way, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				run(t, ctx, start(t, linked))
			})
		}
	}
}

// TestClosedLink: the calls after the end of a link go by themselves.
func TestClosedLink(t *testing.T) {
	r := start(t, true)
	r.conn.(*Conn).Close()
	if out, err := r.call(t.Context(), "echo", []byte("without")); err != nil || string(out) != "without" {
		t.Fatalf("%q %v", out, err)
	}
}

// TestOpenGivesUp: a plugin that accepts the stream and says nothing has no link.
func TestOpenGivesUp(t *testing.T) {
	r := start(t, false)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	c, err := Open(ctx, silent{r.raw})
	if err == nil || c.Linked() {
		t.Fatalf("linked %v, %v", c.Linked(), err)
	}
	c.calls = r.raw
	if out, err := pluginv1.NewOperationsClient(c).Invoke(t.Context(), &pluginv1.InvokeRequest{Rpc: "echo", Input: []byte("x")}); err != nil || string(out.Output) != "x" {
		t.Fatalf("%v %v", out, err)
	}
}

// silent opens streams that never say anything.
type silent struct{ grpc.ClientConnInterface }

type silentStream struct {
	grpc.ClientStream
	ctx context.Context
}

func (s silent) NewStream(ctx context.Context, _ *grpc.StreamDesc, _ string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return silentStream{ctx: ctx}, nil
}

func (s silentStream) RecvMsg(any) error {
	<-s.ctx.Done()
	return status.FromContextError(s.ctx.Err()).Err()
}
