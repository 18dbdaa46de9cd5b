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
// plugin. factory returns the factory, or why there is none yet.
func Register(s grpc.ServiceRegistrar, _ string, factory func() (Factory, error)) {
	pluginv1.RegisterRealmServer(s, &server{
		factory: factory,
		realms:  map[string]Realm{},
	})
}

type server struct {
	pluginv1.UnimplementedRealmServer
	factory func() (Factory, error)
	mu      sync.RWMutex
	realms  map[string]Realm
}

func (s *server) ConfigureRealm(
	ctx context.Context,
	r *pluginv1.ConfigureRealmRequest,
) (*pluginv1.ConfigureRealmResponse, error) {
	c := Config{
		Name:       r.Name,
		Kind:       r.Kind,
		Properties: map[string]Property{},
	}
	for name, p := range r.Properties {
		c.Properties[name] = Property{
			Value:  p.Value,
			List:   p.List,
			Map:    p.Map,
			Origin: p.Origin,
		}
	}
	factory, err := s.factory()
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	fresh, warnings, err := factory.New(ctx, c)
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
	return &pluginv1.ConfigureRealmResponse{
		Warnings: warnings,
		Takes:    kindsOf(fresh),
	}, nil
}

func (s *server) Authenticate(
	ctx context.Context,
	r *pluginv1.AuthenticateRequest,
) (*pluginv1.AuthenticateResponse, error) {
	realm, err := s.realmInstance(r.Name)
	if err != nil {
		return nil, err
	}
	c := Credentials{
		User:     r.User,
		Domain:   r.Domain,
		Password: r.Password,
		Bearer:   r.GetBearer().GetText(),
		Address:  r.Address,
	}
	if !Takes(realm, c.Kind()) || r.Credential != nil && c.Kind() == Password {
		return resultToProto(Result{Reason: "the realm does not take such credentials"}, nil)
	}
	return resultToProto(realm.Authenticate(ctx, c))
}

// credentialKinds are the kinds of the wire.
var credentialKinds = map[Kind]pluginv1.CredentialKind{
	Password: pluginv1.CredentialKind_CREDENTIAL_KIND_PASSWORD,
	Bearer:   pluginv1.CredentialKind_CREDENTIAL_KIND_BEARER,
}

func kindsOf(r Realm) (kinds []pluginv1.CredentialKind) {
	if t, ok := r.(Taker); ok {
		for _, k := range t.Takes() {
			kinds = append(kinds, credentialKinds[k])
		}
	}
	return kinds
}

// FindUser serves a realm that is a Finder.
func (s *server) FindUser(
	ctx context.Context,
	r *pluginv1.FindUserRequest,
) (*pluginv1.AuthenticateResponse, error) {
	realm, err := s.realmInstance(r.Name)
	if err != nil {
		return nil, err
	}
	finder, ok := realm.(Finder)
	if !ok {
		return nil, status.Error(codes.Unimplemented, ErrNoFinder.Error())
	}
	res, err := finder.Find(ctx, r.User, r.Domain)
	if errors.Is(err, ErrNoFinder) {
		return nil, status.Error(codes.Unimplemented, err.Error())
	}
	return resultToProto(res, err)
}

// realmInstance returns a realm by its name.
func (s *server) realmInstance(name string) (Realm, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if r := s.realms[name]; r != nil {
		return r, nil
	}
	return nil, fault.ToStatus(fault.New(
		fault.NotFound,
		"the realm %q is not configured in this plugin",
		name,
	))
}

// outcomes are those of the wire.
var outcomes = map[Outcome]pluginv1.AuthenticateResponse_Outcome{
	Unknown:       pluginv1.AuthenticateResponse_OUTCOME_UNKNOWN,
	Authenticated: pluginv1.AuthenticateResponse_OUTCOME_AUTHENTICATED,
	Unavailable:   pluginv1.AuthenticateResponse_OUTCOME_UNAVAILABLE,
}

func resultToProto(res Result, err error) (*pluginv1.AuthenticateResponse, error) {
	if err != nil {
		res = Result{Outcome: Unavailable, Reason: err.Error()}
	}
	answer := &pluginv1.AuthenticateResponse{
		Outcome:   outcomes[res.Outcome],
		Principal: res.Principal,
		Roles:     res.Roles,
		Reason:    res.Reason,
	}
	if !res.Expires.IsZero() {
		answer.Expires = min(res.Expires.Unix(), latest.Unix())
	}
	return answer, nil
}

// Close ends every instance; sdk.Serve does this when the plugin stops.
func (s *server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.realms {
		_ = r.Close()
	}
	s.realms = map[string]Realm{}
	return nil
}
