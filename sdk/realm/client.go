package realm

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Client reaches the realms of a plugin over a connection.
type Client struct{ rpc pluginv1.RealmClient }

// NewClient returns a client on conn.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pluginv1.NewRealmClient(conn)}
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
	return r.GetWarnings(), fault.FromStatus(err)
}

// Authenticate asks an instance. A plugin that cannot be reached is Unavailable.
func (c *Client) Authenticate(ctx context.Context, instance string, cr Credentials) Result {
	r, err := c.rpc.Authenticate(ctx, &pluginv1.AuthenticateRequest{
		Name:     instance,
		User:     cr.User,
		Domain:   cr.Domain,
		Password: cr.Password,
		Address:  cr.Address,
	})
	if err != nil {
		return Result{
			Outcome: Unavailable,
			Reason:  fault.FromStatus(err).Error(),
		}
	}
	return resultFromProto(r)
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
	return resultFromProto(r), nil
}

func resultFromProto(r *pluginv1.AuthenticateResponse) Result {
	res := Result{
		Outcome:   Unavailable,
		Principal: r.Principal,
		Roles:     r.Roles,
		Reason:    r.Reason,
	}
	for outcome, sent := range outcomes {
		if sent == r.Outcome {
			res.Outcome = outcome
		}
	}
	return res
}
