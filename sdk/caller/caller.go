// Package caller says on whose behalf a call runs. The host authenticates the
// caller and puts it into the context of every handler; a plugin reads it with From.
package caller

import (
	"context"
	"slices"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// Caller is an authenticated user of the controller.
type Caller struct {
	User      string   // name without domain, "admin"
	Domain    string   // "sdn"
	Roles     []string // names without domain, "admin"
	RequestID string   // one per HTTP request or console command
	Address   string   // host:port of the client, empty for the local console
}

// ID is the one spelling of a user, NAME@DOMAIN; empty for nobody.
func (c Caller) ID() string {
	if c.User == "" || c.Domain == "" {
		return c.User
	}
	return c.User + "@" + c.Domain
}

// HasRole reports whether the caller holds a role.
func (c Caller) HasRole(role string) bool {
	return slices.Contains(c.Roles, role)
}

type key struct{}

// carrier is a context with a caller; one for both costs each request half as much.
type carrier struct {
	context.Context
	who Caller
}

// Value returns the carrier itself for this package's key.
func (c *carrier) Value(k any) any {
	if _, mine := k.(key); mine {
		return c
	}
	return c.Context.Value(k)
}

// With returns a context that carries c, in place of the one that ctx carried.
func With(ctx context.Context, c Caller) context.Context {
	if outer, ok := ctx.(*carrier); ok {
		ctx = outer.Context
	}
	return &carrier{ctx, c}
}

// From returns the caller of ctx; false when the call is the controller's own.
func From(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(key{}).(*carrier)
	if !ok {
		return Caller{}, false
	}
	return c.who, true
}

// ToProto returns the wire form of the context's caller, nil without a caller.
func ToProto(ctx context.Context) *pluginv1.Caller {
	c, ok := From(ctx)
	if !ok {
		return nil
	}
	return &pluginv1.Caller{
		User:      c.User,
		Domain:    c.Domain,
		Roles:     c.Roles,
		RequestId: c.RequestID,
		Address:   c.Address,
	}
}

// FromProto returns a context with the caller that came over the wire; ctx itself for nil.
func FromProto(ctx context.Context, p *pluginv1.Caller) context.Context {
	if p == nil {
		return ctx
	}
	return With(
		ctx,
		Caller{
			User:      p.User,
			Domain:    p.Domain,
			Roles:     p.Roles,
			RequestID: p.RequestId,
			Address:   p.Address,
		},
	)
}
