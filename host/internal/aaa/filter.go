package aaa

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"

	"ctl.internal/host/internal/aaa/accounting"
	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/sdk/caller"
)

// trace is the level below DEBUG, as package logs names it.
const trace = slog.Level(-8)

// Filter puts access control before a handler. Next sees only requests that may
// pass: with the path normalised (reqpath.From, and the URL rewritten to say the
// same), the caller in the context and no credentials in the headers.
func (a *AAA) Filter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, err := reqpath.Parse(r)
		if err != nil {
			a.answerRefusal(w, r, http.StatusBadRequest, "", err.Error())
			return
		}
		path.Rewrite(r.URL)
		who := caller.Caller{
			RequestID: a.requestID(r),
			Address:   r.RemoteAddr,
		}
		ctx := caller.With(reqpath.With(r.Context(), path), who)
		if outsideRules(path) {
			next.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		asked := &struct { // what goes through interfaces, in one piece
			env
			rules.Request
		}{env{
			aaa: a,
			ctx: ctx,
		}, rules.Request{HTTP: r, Path: path, Caller: who}}
		e, q := &asked.env, &asked.Request
		q.Peer, _ = netip.ParseAddrPort(r.RemoteAddr)
		q.Port = localPort(ctx)
		v := a.decideRequest(e, q)
		if a.log.Enabled(ctx, trace) {
			a.log.LogAttrs(ctx, trace, "access decision", slog.String("method", r.Method), slog.String("path", accounting.Clean(path.Decoded())),
				slog.Int("line", a.rules.Line(path.Segments())), slog.String("verdict", v.String()),
				slog.String("user", q.Caller.User), slog.String("request", who.RequestID))
		}
		if v == rules.Denied {
			if pruned, ok := a.allowPrunedRead(e, q); ok {
				ctx, v = pruned, rules.Pass
			}
		}
		if v != rules.Pass {
			a.refuseRequest(w, r.WithContext(ctx), v, e)
			return
		}
		if isStreamPath(path) {
			ctx = a.withRecheck(ctx, *q, e.login)
		}
		if q.Known {
			ctx = caller.With(ctx, q.Caller)
			delete(r.Header, "Authorization") // names are canonical since they were read
		}
		delete(r.Header, "Cookie")
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// outsideRules reports whether a path authenticates by its own form, or is one of the files that make the login page.
func outsideRules(p reqpath.Path) bool {
	return p.Is("login") || p.Under("web", "static") || p.Is("web", "login") || p.Is("web", "logout") || p.Is("web", "me") || p.Under("web", "sessions") || p.Under("web", "keys") ||
		p.Is("oauth2", "token") || p.Is("oauth2", "revoke") || p.Is("oauth2", "introspect") || p.Is(".well-known", "oauth-authorization-server")
}

func (a *AAA) requestID(r *http.Request) string {
	if a.o.RequestID != nil {
		return a.o.RequestID(r)
	}
	return rand.Text()
}

// env is what the rules ask during one request.
type env struct {
	aaa   *AAA
	ctx   context.Context
	login *authn.Login
	retry int // seconds, when the verdict is Busy
	err   error

	demand string // what the user must do first
	ended  bool   // the session that the request was sent with has ended
}

func (e *env) Authenticate(r *rules.Request, s rules.Schemes) (rules.Verdict, bool) {
	if r.Known {
		return rules.Pass, true
	}
	l, present, session, err := e.aaa.authn.Sender(e.ctx, r.HTTP, r.Peer, s)
	if errors.Is(err, authn.ErrNoOrigin) {
		e.demand = err.Error()
		return rules.Denied, true
	}
	if session != "" {
		e.ended = errors.Is(err, authn.ErrRefused)
		if err == nil && r.HTTP.Header.Get("Ctl-Background") == "" && !isStreamPath(r.Path) {
			if err := e.aaa.tokens.Used(e.ctx, session); err != nil {
				e.aaa.log.WarnContext(
					e.ctx,
					"the use of a session could not be noted",
					"error",
					err,
				)
			}
		}
	}
	if err != nil {
		return e.verdictOfLoginError(err), present
	}
	if e.aaa.identity.MayDemand() && !r.Path.Is("auth", "password") {
		if e.demand = e.aaa.identity.MustChange(l.Principal); e.demand != "" {
			return rules.Denied, true
		}
	}
	e.login = l
	switch r.HTTP.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
	default:
		e.aaa.authn.SentBy(e.ctx, l)
	}
	r.Caller.User, r.Caller.Domain, r.Caller.Roles, r.Known = l.User, l.Domain, l.Roles, true
	return rules.Pass, true
}

// verdictOfLoginError is the verdict after a login that failed.
func (e *env) verdictOfLoginError(err error) rules.Verdict {
	var slow *throttle.BlockedError
	var silent *authn.UnavailableError
	var lost *authn.NotFindableError // its realm has lost the account to look users up with
	switch {
	case errors.As(err, &slow):
		e.retry = int(slow.RetryAfter().Seconds())
		return rules.Busy
	case errors.As(err, &silent):
		e.retry = int(silent.RetryAfter().Seconds())
		return rules.Unknown
	case !errors.Is(err, authn.ErrRefused) && !errors.As(err, &lost):
		e.err = err
	}
	return rules.Unauthenticated
}

func (e *env) Dynamic(r *rules.Request) rules.Verdict {
	policies, method, roles := e.aaa.policies, r.HTTP.Method, r.Caller.Roles
	for _, address := range r.Addresses {
		if r.Alone && policies.AllowsAlone(method, address, roles) ||
			policies.Allows(method, address, roles) {
			continue
		}
		return rules.Denied
	}
	return rules.Pass
}
