package aaa

import (
	"context"
	"net/http"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/sdk/caller"
)

type stillKey struct{}

// Still reports whether a request that lasts, and whose context this is, would be let in
// if it came now: its user may have been disabled or deleted, have another password or
// role, its token been revoked, the rules been changed. Where that is not known the
// answer is no.
func Still(ctx context.Context) bool {
	_, may := Renew(ctx)
	return may
}

// Renew is Still, and returns the context with the roles that the user has now.
func Renew(ctx context.Context) (context.Context, bool) {
	ask, ok := ctx.Value(stillKey{}).(func(context.Context) ([]string, bool))
	if !ok {
		return ctx, true
	}
	roles, may := ask(ctx)
	who, known := caller.From(ctx)
	if !may || !known {
		return ctx, may
	}
	who.Roles = roles
	return caller.With(ctx, who), true
}

// isStreamPath says which requests are worth remembering how to ask again.
func isStreamPath(p reqpath.Path) bool {
	return p.Under("rests", "streams") || p.Under("restconf", "streams") || p.Is("web", "events") ||
		p.Under("rests", "subscriptions") || p.Under("restconf", "subscriptions") || p.Under("subscriptions")
}

// withRecheck returns a context for Still. q is the request as it was let in.
func (a *AAA) withRecheck(ctx context.Context, q rules.Request, l *authn.Login) context.Context {
	r := *q.HTTP
	r.Header = http.Header{} // what was sent is the handler's now, and holds no credentials any more
	q.HTTP = &r
	return context.WithValue(ctx, stillKey{}, func(ctx context.Context) ([]string, bool) {
		q := q
		if l != nil {
			now, err := a.authn.Still(ctx, l)
			if err != nil {
				return nil, false
			}
			q.Caller.Roles = now.Roles
		}
		return q.Caller.Roles, a.decideRequest(&env{
			aaa: a,
			ctx: ctx,
		}, &q) == rules.Pass
	})
}

type readableKey struct{}

// Readable is for reads of a data tree whose rules or policies keep something below the resource from
// the caller (RFC 8341 section 3.2.4): it reports of a path in the tree, percent-encoded, whether it may
// be read, and whether all below it may be, too. It is nil for requests that may read everything.
func Readable(ctx context.Context) func(path string) (may, all bool) {
	f, _ := ctx.Value(readableKey{}).(func(string) (bool, bool))
	return f
}

// allowPrunedRead lets a read of a data tree through that was denied for something below the resource alone, with
// a context for Readable. A write is refused whole.
func (a *AAA) allowPrunedRead(e *env, q *rules.Request) (context.Context, bool) {
	if !reads(q.HTTP.Method) || q.Path.DataDepth() == 0 || isStreamPath(q.Path) {
		return nil, false
	}
	if q.Alone = true; a.decideRequest(e, q) != rules.Pass {
		return nil, false
	}
	asked := *q
	return context.WithValue(e.ctx, readableKey{}, func(path string) (may, all bool) {
		p, err := reqpath.ParseString(path)
		if err != nil {
			return false, false
		}
		q := asked
		q.Path, q.Alone = p, false
		if a.decideRequest(e, &q) == rules.Pass {
			return true, true
		}
		q.Alone = true
		return a.decideRequest(e, &q) == rules.Pass, false
	}), true
}
