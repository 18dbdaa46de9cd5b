package plugintest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"ctl.internal/internal/wire"
	"ctl.internal/internal/wire/frames"
	"ctl.internal/internal/wire/link"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// RPC is a test's stand-in for an RPC of another module.
type RPC func(ctx context.Context, input []byte) (output []byte, err error)

// Host is a controller in memory: the services that plugins call, with none of the
// limits of the real one but with its refusals. It may serve several plugins, which
// then reach each other through its switchboard.
type Host struct {
	dir  string
	grpc *grpc.Server
	done chan struct{}

	mu        sync.Mutex
	changed   chan struct{} // closed and replaced by wake
	store     store
	events    []Event           // all of the test
	plugins   map[string]*guest // by token
	roles     map[string]*guest // who holds them
	rpcs      map[string]RPC
	callers   map[string]caller.Caller
	trust     []byte
	calls     int
	cert, key []byte
}

// wakeWaiters has those who wait look again. The caller holds mu.
func (h *Host) wakeWaiters() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// waitUntil waits until ready, which is called under mu, returns true.
func (h *Host) waitUntil(ctx context.Context, ready func() bool) error {
	for {
		h.mu.Lock()
		changed, ok := h.changed, ready()
		h.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// guest is a plugin at the host, or the test itself.
type guest struct {
	manifest *pluginv1.Manifest
	conn     grpc.ClientConnInterface
}

// NewHost returns a host that lives as long as the test.
func NewHost(t testing.TB) *Host {
	t.Helper()
	h, err := startHost()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	return h
}

func startHost() (*Host, error) {
	dir, err := os.MkdirTemp("", "ctl") // short: it is part of a socket's path
	if err != nil {
		return nil, err
	}
	h := &Host{
		dir:     dir,
		done:    make(chan struct{}),
		changed: make(chan struct{}),
		store:   store{entries: map[string]*pluginv1.Entry{}},
		plugins: map[string]*guest{},
		roles:   map[string]*guest{},
		rpcs:    map[string]RPC{},
		callers: map[string]caller.Caller{},
	}
	lis, err := net.Listen("unix", h.Socket())
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	h.grpc = grpc.NewServer(wire.ServerOptions(grpc.ForceServerCodecV2(frames.Codec()), grpc.UnknownServiceHandler(h.relayCall),
		grpc.ChainUnaryInterceptor(h.interceptUnary), grpc.ChainStreamInterceptor(h.interceptStream))...)
	l := link.NewServer(h.grpc, h.answerWithStatus)
	l.Admit, l.Unknown = h.admitCaller, h.relayUnary
	pluginv1.RegisterHostDatastoreServer(l, &datastoreServer{h: h})
	pluginv1.RegisterHostRolesServer(l, &rolesServer{h: h})
	pluginv1.RegisterHostOperationsServer(l, &operationsServer{h: h})
	pluginv1.RegisterHostEventsServer(l, &eventsServer{h: h})
	pluginv1.RegisterHostSecretsServer(l, secretsServer{h: h})
	pluginv1.RegisterHostCertificatesServer(l, certificatesServer{h: h})
	pluginv1.RegisterHostSwitchboardServer(l, &switchboardServer{h: h})
	pluginv1.RegisterHostTroublesServer(l, troublesServer{})
	go func() {
		defer close(h.done)
		_ = h.grpc.Serve(lis) // ends with Stop
	}()
	return h, nil
}

func (h *Host) close() {
	h.grpc.Stop()
	<-h.done
	_ = os.RemoveAll(h.dir)
}

// Socket is the path of the host's socket, as CTL_HOST_SOCKET holds it.
func (h *Host) Socket() string {
	return filepath.Join(h.dir, "host.sock")
}

// Handle answers the RPC "module:rpc" when a plugin calls it.
func (h *Host) Handle(rpc string, f RPC) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rpcs[rpc] = f
}

// Trust sets the PEM certificates of the trust keystore.
func (h *Host) Trust(pem []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trust = pem
}

// Identity sets the controller's certificate and key, in PEM.
func (h *Host) Identity(cert, key []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cert, h.key = cert, key
}

// Client returns the host's services as the plugin with that manifest sees them, for
// preparing and examining its data; the plugin need not be running. With a nil
// manifest it is the controller's own view, which may write the configuration.
func (h *Host) Client(t testing.TB, m *pluginv1.Manifest) *host.Client {
	t.Helper()
	conn, err := wire.DialHost(h.Socket(), h.attachPlugin(m, nil))
	if err != nil {
		t.Fatal(err)
	}
	c, err := host.NewClient(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// attachPlugin lets a plugin in and returns its token. With a connection it is a provider
// of what its manifest says.
func (h *Host) attachPlugin(m *pluginv1.Manifest, conn grpc.ClientConnInterface) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	token := rand.Text()
	h.plugins[token] = &guest{m, conn}
	h.wakeWaiters()
	return token
}

// withKnownCaller notes the caller of ctx, so that the plugin may act for it, and has the plugin
// answer with all that was stored before the call.
func (h *Host) withKnownCaller(ctx context.Context) context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	ctx = metadata.AppendToOutgoingContext(
		ctx,
		wire.MetaMinRevision,
		strconv.FormatUint(h.store.revision(), 10),
	)
	who, ok := caller.From(ctx)
	if !ok {
		return ctx
	}
	if who.RequestID == "" {
		h.calls++
		who.RequestID = fmt.Sprintf("test-%d", h.calls)
	}
	h.callers[who.RequestID] = who
	return caller.With(ctx, who)
}

type guestKey struct{}

// admitCaller returns the context of a call with its guest, who is known by the token that
// came with stream.
func (h *Host) admitCaller(ctx, stream context.Context) (context.Context, error) {
	md, _ := metadata.FromIncomingContext(stream)
	if v := md.Get(wire.MetaToken); len(v) == 1 {
		h.mu.Lock()
		defer h.mu.Unlock()
		if g, ok := h.plugins[v[0]]; ok {
			return context.WithValue(ctx, guestKey{}, g), nil
		}
	}
	return nil, status.Errorf(
		codes.Unauthenticated,
		"the metadata %q does not hold the plugin's token (host_token of Configure)",
		wire.MetaToken,
	)
}

func guestOf(ctx context.Context) *guest {
	return ctx.Value(guestKey{}).(*guest)
}

func (h *Host) interceptUnary(
	ctx context.Context,
	req any,
	_ *grpc.UnaryServerInfo,
	next grpc.UnaryHandler,
) (any, error) {
	ctx, err := h.admitCaller(ctx, ctx)
	if err != nil {
		return nil, err
	}
	return h.answerWithStatus(ctx, req, nil, next)
}

func (h *Host) answerWithStatus(
	ctx context.Context,
	req any,
	_ *grpc.UnaryServerInfo,
	next grpc.UnaryHandler,
) (any, error) {
	res, err := next(ctx, req)
	return res, fault.ToStatus(err)
}

func (h *Host) interceptStream(
	srv any,
	ss grpc.ServerStream,
	_ *grpc.StreamServerInfo,
	next grpc.StreamHandler,
) error {
	ctx, err := h.admitCaller(ss.Context(), ss.Context())
	if err != nil {
		return err
	}
	return fault.ToStatus(next(srv, wire.StreamWith(ctx, ss)))
}
