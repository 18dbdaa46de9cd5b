package hostsvc

import (
	"context"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/grant"
	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// permit is what the plugin may do now. Its context ends when something of it was revoked: the streams that stand on
// it end, and the plugin opens those again that it still may.
type permit struct {
	grant.Permit
	ctx    context.Context
	revoke context.CancelFunc
}

func newPermit(m *pluginv1.Manifest, held grant.Held) *permit {
	requests, err := grant.Requests(m)
	if err != nil {
		requests = nil // the manifest was refused: nothing is permitted
	}
	p := &permit{Permit: grant.NewPermit(requests, held)}
	p.ctx, p.revoke = context.WithCancel(context.Background())
	return p
}

// SetHeld puts decisions about the plugin's grants into force, at once.
func (s *Server) SetHeld(held grant.Held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = held
	s.renewPermit()
}

// Held returns the decisions in force.
func (s *Server) Held() grant.Held {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.held
}

// Permit returns what the plugin may do now.
func (s *Server) Permit() grant.Permit {
	return s.permit.Load().Permit
}

// renewPermit makes a new permit; the caller holds mu.
func (s *Server) renewPermit() {
	next := newPermit(s.manifest.Load(), s.held)
	old := s.permit.Load()
	for _, g := range old.Granted() {
		if !next.Allows(g.Kind, g.Value) {
			s.permit.Store(next)
			old.revoke()
			return
		}
	}
	next.revoke()
	next.ctx, next.revoke = old.ctx, old.revoke // nothing was revoked: what is open stays
	s.permit.Store(next)
}

// Allowed returns an error when the plugin was not granted something.
func (s *Server) Allowed(kind, value string) error {
	if s.permit.Load().Allows(kind, value) {
		return nil
	}
	g := grant.Grant{Kind: kind, Value: value}
	s.services.Refused(g)
	return fault.New(fault.Denied, "plugin %s was not granted `%s`: its manifest must list it under `requests`, and an administrator grant it (plugin:grant %s \"%s\")",
		s.plugin, g, s.plugin, g)
}

// tieToPermit ties a stream to the permit of the moment. The returned function ends that.
func (s *Server) tieToPermit(ss grpc.ServerStream) (grpc.ServerStream, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ss.Context())
	stop := context.AfterFunc(s.permit.Load().ctx, cancel)
	return wire.StreamWith(ctx, ss), func() { stop(); cancel() }
}
