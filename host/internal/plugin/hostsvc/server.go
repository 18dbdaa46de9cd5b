// Package hostsvc serves what plugins may ask of the host: one unix socket for each
// plugin, so that who calls is known without asking, and a token, so that only the
// processes started for it get through. What the host itself
// offers to people is in restconf, console and web; calls to another plugin are
// carried on by package relay.
package hostsvc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"golang.org/x/net/netutil"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/process"
	"ctl.internal/internal/wire"
	"ctl.internal/internal/wire/frames"
	"ctl.internal/internal/wire/link"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// Server is the host as one plugin sees it.
type Server struct {
	plugin   string
	services Services
	socket   string
	grpc     *grpc.Server
	serving  sync.WaitGroup
	manifest atomic.Pointer[pluginv1.Manifest]
	permit   atomic.Pointer[permit]

	uploading sync.Mutex // spans, one message at a time
	reporting sync.Mutex // troubles, one list at a time

	stored            stored
	inflight, streams atomic.Int64
	open              atomic.Int64 // calls and streams on all connections, also those whose request has not arrived
	account           *account
	limited           *rate.Limiter // lines about quotas
	over              map[string]*atomic.Uint64
	events            *rate.Limiter

	mu     sync.RWMutex
	held   grant.Held
	tokens []issued // the newest process last
	// reporter is the token of the process that reported its troubles last; empty = none did.
	reporter string
	terms    map[string]Term // by token and role
}

// connections of a plugin are served at once: it needs one for each of its processes. More of them wait to be accepted.
const connections = 32

// Listen opens the socket of a plugin in its private directory.
func Listen(dir, plugin string, services Services) (*Server, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the private directory of plugin %s: %w", plugin, err)
	}
	s := &Server{
		plugin:   plugin,
		services: services,
		socket:   filepath.Join(dir, "host.sock"),
		terms:    map[string]Term{},
	}
	s.permit.Store(newPermit(nil, grant.Held{}))
	s.over = map[string]*atomic.Uint64{}
	s.account = newAccount(services.Quotas)
	for _, q := range []string{"calls", "events", "requests", "store", "streams", "unread", "writes"} {
		s.over[q] = &atomic.Uint64{}
	}
	s.limited, s.events = rate.NewLimiter(rate.Every(10*time.Second), 1), rate.NewLimiter(rate.Inf, 0)
	if n := services.Quotas.Events; n > 0 {
		s.events = rate.NewLimiter(rate.Limit(n), 10*n)
	}
	lis, err := process.Listen(s.socket, s.isOwnProcess, func(pid int) {
		services.Log.Warn(
			"a plugin tried to use the socket of another and was refused",
			"plugin",
			plugin,
			"pid",
			pid,
		)
	})
	if err != nil {
		return nil, fmt.Errorf("the host's socket for plugin %s cannot be opened: %w", plugin, err)
	}
	lis = netutil.LimitListener(lis, connections)
	s.grpc = grpc.NewServer(wire.ServerOptions(
		grpc.ForceServerCodecV2(codec{frames.Codec()}),
		grpc.StatsHandler(connectionStats{}),
		grpc.MaxConcurrentStreams(1024),
		grpc.InTapHandle(s.countOpen),
		grpc.ChainUnaryInterceptor(s.interceptUnary),
		grpc.ChainStreamInterceptor(s.interceptStream),
		grpc.UnknownServiceHandler(services.Relay),
	)...)
	l := link.NewServer(s.grpc, s.serveAdmitted)
	l.Admit, l.Unknown = s.admitLinked, s.relayUnary
	pluginv1.RegisterHostDatastoreServer(l, &datastoreServer{s: s})
	pluginv1.RegisterHostRolesServer(l, &rolesServer{s: s})
	pluginv1.RegisterHostOperationsServer(l, &operationsServer{s: s})
	pluginv1.RegisterHostEventsServer(l, &eventsServer{s: s})
	pluginv1.RegisterHostSecretsServer(l, &secretsServer{s: s})
	pluginv1.RegisterHostCertificatesServer(l, &certificatesServer{s: s})
	pluginv1.RegisterHostSwitchboardServer(l, &switchboardServer{s: s})
	pluginv1.RegisterHostTroublesServer(l, &troublesServer{s: s})
	collectorpb.RegisterTraceServiceServer(l, &tracesServer{s: s})
	s.serving.Go(func() {
		if err := s.grpc.Serve(lis); err != nil {
			services.Log.Error(
				"the host's socket for a plugin has failed",
				"plugin",
				plugin,
				"error",
				err,
			)
		}
	})
	return s, nil
}

// maxOpen bounds the calls and streams of a plugin over all its connections before anything of them is read: each has a
// goroutine.
const maxOpen = 2048

// countOpen counts a call or a stream until it ends. It implements tap.ServerInHandle.
func (s *Server) countOpen(ctx context.Context, _ *tap.Info) (context.Context, error) {
	if s.open.Add(1) > maxOpen {
		s.open.Add(-1)
		s.noteQuotaExceeded("calls")
		return nil, status.Errorf(codes.Unavailable,
			"plugin %s has %d calls and streams to the host open, over all its connections, which is the most; end some, and try again",
			s.plugin, maxOpen)
	}
	context.AfterFunc(ctx, func() { s.open.Add(-1) })
	return ctx, nil
}

// Socket is the path of the socket.
func (s *Server) Socket() string { return s.socket }

// issued is the token of a process.
type issued struct {
	token []byte
	pid   int
}

// AddToken lets a process in.
func (s *Server) AddToken(token string, pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens = append(s.tokens, issued{[]byte(token), pid})
}

// isOwnProcess reports whether a process is one of the plugin's.
func (s *Server) isOwnProcess(pid int) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.ContainsFunc(s.tokens, func(i issued) bool { return i.pid == pid })
}

// Reports reports whether the process that reported the troubles of the plugin last is let in still.
func (s *Server) Reports() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.ContainsFunc(s.tokens, func(i issued) bool { return string(i.token) == s.reporter })
}

// HasReported reports whether a process of the plugin has reported its troubles since the host started.
func (s *Server) HasReported() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.reporter != ""
}

// RemoveToken shuts a process out.
func (s *Server) RemoveToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens = slices.DeleteFunc(s.tokens, func(i issued) bool {
		return string(i.token) == token
	})
}

// SetManifest says what the plugin may do, as far as it is granted. Before the first one it may do nothing.
func (s *Server) SetManifest(m *pluginv1.Manifest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.manifest.Store(m)
	s.renewPermit()
}

// Manifest returns the newest manifest, nil before the first.
func (s *Server) Manifest() *pluginv1.Manifest {
	return s.manifest.Load()
}

// Close ends the server and every call on it, and removes the plugin's directory.
func (s *Server) Close() {
	s.permit.Load().revoke()
	s.grpc.Stop()
	s.serving.Wait()
	_ = os.RemoveAll(filepath.Dir(s.socket))
}
