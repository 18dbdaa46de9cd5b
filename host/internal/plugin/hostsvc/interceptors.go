package hostsvc

import (
	"context"
	"crypto/subtle"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/grant"
	"ctl.internal/internal/wire"
	"ctl.internal/internal/wire/onward"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// checkToken checks the token of a call. Every token is compared, each in constant time.
func (s *Server) checkToken(ctx context.Context) error {
	sent := metadata.ValueFromIncomingContext(ctx, wire.MetaToken)
	ok := 0
	if len(sent) == 1 {
		s.mu.RLock()
		for _, t := range s.tokens {
			ok |= subtle.ConstantTimeCompare(t.token, []byte(sent[0]))
		}
		s.mu.RUnlock()
	}
	if ok != 1 {
		return status.Errorf(codes.Unauthenticated, "the metadata %q is not the token of a running process of plugin %s (host_token of Configure)",
			wire.MetaToken, s.plugin)
	}
	return nil
}

func (s *Server) interceptUnary(
	ctx context.Context,
	req any,
	info *grpc.UnaryServerInfo,
	h grpc.UnaryHandler,
) (any, error) {
	if err := s.checkToken(ctx); err != nil {
		return nil, err
	}
	res, err := s.serveAdmitted(ctx, req, info, h)
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, res)
}

// admitLinked admits a call on a link: the token came with the link, and may have been
// withdrawn since.
func (s *Server) admitLinked(call, stream context.Context) (context.Context, error) {
	return context.WithValue(call, tokenKey{}, tokenOf(stream)), s.checkToken(stream)
}

// relayUnary carries a call on a link to another plugin.
func (s *Server) relayUnary(
	ctx context.Context,
	method string,
	request []byte,
) (_ []byte, err error) {
	defer s.recoverPanic(method, &err)
	return s.services.RelayUnary(ctx, method, request)
}

func (s *Server) serveAdmitted(
	ctx context.Context,
	req any,
	info *grpc.UnaryServerInfo,
	h grpc.UnaryHandler,
) (_ any, err error) {
	_, ok := ctx.Deadline()
	if !ok && s.services.CallTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.services.CallTimeout)
		defer cancel()
	}
	// what the request that is served has left
	if v := metadata.ValueFromIncomingContext(ctx, onward.StoreLeft); len(v) == 1 {
		if ms, err := strconv.ParseUint(v[0], 10, 31); err == nil {
			ctx = datastore.WithBudget(ctx, time.Duration(ms)*time.Millisecond)
		}
	}
	defer s.recoverPanic(info.FullMethod, &err)
	if err := s.checkService(info.FullMethod); err != nil {
		return nil, fault.ToStatus(err)
	}
	leave, err := s.enterCall("calls", &s.inflight, s.services.Quotas.Calls)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	defer leave()
	done, err := s.enterRequest(req)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	defer done()
	res, err := h(ctx, req)
	return res, fault.ToStatus(err)
}

func (s *Server) interceptStream(
	srv any,
	ss grpc.ServerStream,
	info *grpc.StreamServerInfo,
	h grpc.StreamHandler,
) (err error) {
	if err := s.checkToken(ss.Context()); err != nil {
		return err
	}
	defer s.recoverPanic(info.FullMethod, &err)
	carries := info.FullMethod == pluginv1.Link_Carry_FullMethodName // the calls on it are checked one by one
	if err := s.checkService(info.FullMethod); !carries && err != nil {
		return fault.ToStatus(err)
	}
	leave, err := s.enterCall("streams", &s.streams, s.services.Quotas.Streams)
	if err != nil {
		return fault.ToStatus(err)
	}
	defer leave()
	if carries {
		return h(srv, ss)
	}
	ss, end := s.tieToPermit(ss)
	defer end()
	return fault.ToStatus(h(srv, s.pacedStream(ss)))
}

// recoverPanic keeps a defect of the host, provoked by a plugin, from ending the host.
func (s *Server) recoverPanic(method string, err *error) {
	if v := recover(); v != nil {
		s.services.Log.Error("a service for plugins panicked", "plugin", s.plugin, "method", method,
			"panic", fmt.Sprint(v), "stack", string(debug.Stack()))
		*err = fault.ToStatus(fault.New(
			fault.Internal,
			"internal error in the host; its log has the details",
		))
	}
}

// requirements are what all methods of a service need; the methods of some check what else is asked of them.
var requirements = map[string]struct {
	grant string // of the kind Service; empty = none
	what  string // of the controller
	has   func(Services) bool
}{
	"HostDatastore": {grant.Datastore, "datastore", func(s Services) bool {
		return s.Store != nil
	}},
	"HostRoles": {grant.Roles, "roles", func(s Services) bool {
		return s.Roles != nil
	}},
	"HostSecrets": {grant.Secrets, "key for secrets", func(s Services) bool {
		return s.Secrets != nil
	}},
	"HostOperations": {"", "operations of other modules", func(s Services) bool {
		return s.Operations != nil
	}},
	"HostEvents": {"", "event bus", func(s Services) bool { return s.Bus != nil }},
	"HostCertificates": {"", "keystore", func(s Services) bool {
		return s.Certificates != nil
	}},
	"HostTroubles": {"", "list of troubles", func(s Services) bool {
		return s.Troubles != nil
	}},
	"HostSwitchboard": {"", "switchboard", func(s Services) bool {
		return s.Directory != nil
	}},
}

// checkService refuses a call of a service that the plugin was not granted, or that this controller does not have.
func (s *Server) checkService(fullMethod string) error {
	service, _, _ := strings.Cut(strings.TrimPrefix(fullMethod, "/ctl.plugin.v1."), "/")
	r, ok := requirements[service]
	if !ok {
		return nil
	}
	if r.grant != "" {
		if err := s.Allowed(grant.Service, r.grant); err != nil {
			return err
		}
	}
	if !r.has(s.services) {
		return absentServiceError(r.what)
	}
	return nil
}

// absentServiceError is the answer of a service that this controller does not have.
func absentServiceError(what string) error {
	return fault.New(fault.Unavailable, "this controller has no %s", what)
}
