package realm

import (
	"context"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Client reaches the realms of a plugin over a connection.
type Client struct {
	rpc   pluginv1.RealmClient
	mu    sync.Mutex
	takes map[string][]Kind // by instance
}

// NewClient returns a client on conn.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{
		rpc:   pluginv1.NewRealmClient(conn),
		takes: map[string][]Kind{},
	}
}

// Configure makes, or replaces, an instance.
func (c *Client) Configure(ctx context.Context, cfg Config) (warnings []string, err error) {
	req := &pluginv1.ConfigureRealmRequest{
		Name:       cfg.Name,
		Kind:       cfg.Kind,
		Properties: map[string]*pluginv1.RealmProperty{},
	}
	for name, p := range cfg.Properties {
		req.Properties[name] = &pluginv1.RealmProperty{
			Value:  p.Value,
			List:   p.List,
			Map:    p.Map,
			Origin: p.Origin,
		}
	}
	r, err := c.rpc.ConfigureRealm(ctx, req)
	if err != nil {
		return nil, fault.FromStatus(err)
	}
	c.mu.Lock()
	c.takes[cfg.Name] = kindsFromProto(r.Takes)
	c.mu.Unlock()
	return r.Warnings, nil
}

// Takes returns the kinds of credentials that an instance takes, as it said when it was configured by this
// client; passwords before that.
func (c *Client) Takes(instance string) []Kind {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kinds, known := c.takes[instance]; known {
		return kinds
	}
	return []Kind{Password}
}

// kindsFromProto leaves out kinds that this controller does not know, and never sends.
func kindsFromProto(sent []pluginv1.CredentialKind) (kinds []Kind) {
	if len(sent) == 0 {
		return []Kind{Password}
	}
	for kind, number := range credentialKinds {
		for _, s := range sent {
			if s == number {
				kinds = append(kinds, kind)
				break
			}
		}
	}
	return kinds
}

// Authenticate asks an instance. A plugin that cannot be reached is Unavailable.
func (c *Client) Authenticate(ctx context.Context, instance string, cr Credentials) Result {
	req := &pluginv1.AuthenticateRequest{
		Name:     instance,
		User:     cr.User,
		Domain:   cr.Domain,
		Password: cr.Password,
		Address:  cr.Address,
	}
	if cr.Kind() == Bearer {
		req.User, req.Domain, req.Password = "", "", ""
		req.Credential = &pluginv1.AuthenticateRequest_Bearer{
			Bearer: &pluginv1.BearerToken{Text: cr.Bearer},
		}
	}
	r, err := c.rpc.Authenticate(ctx, req)
	if err != nil {
		return Result{
			Outcome: Unavailable,
			Reason:  fault.FromStatus(err).Error(),
		}
	}
	return resultFromProto(r, cr.Kind())
}

// Find asks an instance about a user without the password; ErrNoFinder when it cannot look users up.
func (c *Client) Find(ctx context.Context, instance, user, domain string) (Result, error) {
	r, err := c.rpc.FindUser(
		ctx,
		&pluginv1.FindUserRequest{
			Name:   instance,
			User:   user,
			Domain: domain,
		},
	)
	if status.Code(err) == codes.Unimplemented {
		return Result{}, ErrNoFinder
	}
	if err != nil {
		return Result{
			Outcome: Unavailable,
			Reason:  fault.FromStatus(err).Error(),
		}, nil
	}
	return resultFromProto(r, Password), nil
}

// resultFromProto reads an answer. One that cannot be used is Unavailable: a fault of the plugin says
// nothing about the credentials, and must not let anybody in.
func resultFromProto(r *pluginv1.AuthenticateResponse, kind Kind) Result {
	if why := checkAnswer(r, kind); why != "" {
		return Result{
			Outcome: Unavailable,
			Reason:  "the plugin of the realm is at fault: " + why,
		}
	}
	res := Result{
		Principal: r.Principal,
		Roles:     r.Roles,
		Reason:    r.Reason,
	}
	if kind == Password {
		var warning string
		if res.Roles, warning = dropRoles(r.Roles); warning != "" {
			res.Reason = strings.TrimPrefix(res.Reason+"; "+warning, "; ")
		}
	}
	for outcome, sent := range outcomes {
		if sent == r.Outcome {
			res.Outcome = outcome
		}
	}
	if r.Expires > 0 {
		res.Expires = time.Unix(r.Expires, 0)
	}
	return res
}
