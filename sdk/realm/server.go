package realm

import (
	"context"
	"errors"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Register serves a factory's realms on a gRPC server; sdk.Serve does this for a
// plugin. close ends every instance.
func Register(s grpc.ServiceRegistrar, f Factory) (closeAll func()) {
	srv := &server{factory: f, realms: map[string]Realm{}}
	pluginv1.RegisterRealmServer(s, srv)
	return srv.close
}

type server struct {
	pluginv1.UnimplementedRealmServer
	factory Factory
	mu      sync.RWMutex
	realms  map[string]Realm
}

func (s *server) ConfigureRealm(ctx context.Context, r *pluginv1.ConfigureRealmRequest) (*pluginv1.ConfigureRealmResponse, error) {
	c := Config{Name: r.Name, Kind: r.Kind, Properties: map[string]Property{}}
	for name, p := range r.Properties {
		c.Properties[name] = Property{Value: p.Value, List: p.List, Map: p.Map, Origin: p.Origin}
	}
	fresh, warnings, err := s.factory.New(ctx, c)
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	s.mu.Lock()
	old := s.realms[c.Name]
	s.realms[c.Name] = fresh
	s.mu.Unlock()
	if old != nil {
		if err := old.Close(); err != nil {
			warnings = append(warnings, "closing the earlier instance: "+err.Error())
		}
	}
	return &pluginv1.ConfigureRealmResponse{Warnings: warnings}, nil
}

func (s *server) Authenticate(ctx context.Context, r *pluginv1.AuthenticateRequest) (*pluginv1.AuthenticateResponse, error) {
	s.mu.RLock()
	realm := s.realms[r.Name]
	s.mu.RUnlock()
	if realm == nil {
		return nil, fault.ToStatus(fault.New(fault.NotFound, "the realm %q is not configured in this plugin", r.Name))
	}
	res, err := realm.Authenticate(ctx, Credentials{User: r.User, Domain: r.Domain, Password: r.Password, Address: r.Address})
	if err != nil {
		return &pluginv1.AuthenticateResponse{Outcome: pluginv1.AuthenticateResponse_OUTCOME_UNAVAILABLE, Reason: err.Error()}, nil
	}
	return answer(res), nil
}

// FindUser serves a realm that is a Finder.
func (s *server) FindUser(ctx context.Context, r *pluginv1.FindUserRequest) (*pluginv1.AuthenticateResponse, error) {
	s.mu.RLock()
	realm := s.realms[r.Name]
	s.mu.RUnlock()
	if realm == nil {
		return nil, fault.ToStatus(fault.New(fault.NotFound, "the realm %q is not configured in this plugin", r.Name))
	}
	finder, ok := realm.(Finder)
	if !ok {
		return nil, status.Error(codes.Unimplemented, ErrNoFinder.Error())
	}
	res, err := finder.Find(ctx, r.User, r.Domain)
	if errors.Is(err, ErrNoFinder) {
		return nil, status.Error(codes.Unimplemented, err.Error())
	}
	if err != nil {
		return &pluginv1.AuthenticateResponse{Outcome: pluginv1.AuthenticateResponse_OUTCOME_UNAVAILABLE, Reason: err.Error()}, nil
	}
	return answer(res), nil
}

func answer(res Result) *pluginv1.AuthenticateResponse {
	out := &pluginv1.AuthenticateResponse{Principal: res.Principal, Roles: res.Roles, Reason: res.Reason}
	switch res.Outcome {
	case Authenticated:
		out.Outcome = pluginv1.AuthenticateResponse_OUTCOME_AUTHENTICATED
	case Unavailable:
		out.Outcome = pluginv1.AuthenticateResponse_OUTCOME_UNAVAILABLE
	default:
		out.Outcome = pluginv1.AuthenticateResponse_OUTCOME_UNKNOWN
	}
	return out
}

func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, r := range s.realms {
		_ = r.Close()
		delete(s.realms, name)
	}
}
