package aaa

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Allows reports whether a caller who is known already could make a request the way they
// came, which is in ctx: by the same rules and policies as Filter. Plugins that act for
// a user are held to it. The console came to no port and without TLS; that of the
// machine itself, which has no address, from the loopback.
func (a *AAA) Allows(ctx context.Context, who caller.Caller, method, path string) error {
	r := &http.Request{
		Method:     method,
		URL:        &url.URL{Path: path},
		RequestURI: path,
		Header:     http.Header{},
		RemoteAddr: who.Address,
	}
	p, err := reqpath.Parse(r)
	if err != nil {
		return fault.New(fault.Invalid, "%s", err.Error())
	}
	if overTLS(ctx) {
		r.TLS = &tls.ConnectionState{}
	}
	q := rules.Request{
		HTTP:   r,
		Path:   p,
		Peer:   callerAddrPort(who),
		Port:   localPort(ctx),
		Caller: who,
		Known:  true,
		Plugin: IsPlugin(ctx),
	}
	e := env{aaa: a}
	switch verdict := a.decideRequest(&e, &q); {
	case verdict == rules.Pass:
		return nil
	case e.demand != "":
		return fault.New(fault.Denied, "%s", e.demand)
	}
	return fault.New(fault.Denied, "user %s may not %s %s", who.User, method, path)
}

// MayRead reports whether a caller may read data, and whether all below it, too. A caller without a name is anonymous.
func (a *AAA) MayRead(ctx context.Context, who caller.Caller, address string) (may, all bool) {
	p, err := reqpath.ParseString(address)
	if err != nil {
		return false, false
	}
	r := &http.Request{
		Method: http.MethodGet,
		URL: &url.URL{
			Path:    p.Decoded(),
			RawPath: address,
		},
		Header:     http.Header{},
		RemoteAddr: who.Address,
	}
	if overTLS(ctx) {
		r.TLS = &tls.ConnectionState{}
	}
	q := rules.Request{
		HTTP:   r,
		Path:   p,
		Peer:   callerAddrPort(who),
		Port:   localPort(ctx),
		Caller: who,
		Known:  who.User != "",
		Plugin: IsPlugin(ctx),
	}
	if a.decideRequest(&env{
		aaa: a,
		ctx: ctx,
	}, &q) == rules.Pass {
		return true, true
	}
	q.Alone = true
	return a.decideRequest(&env{
		aaa: a,
		ctx: ctx,
	}, &q) == rules.Pass, false
}

func callerAddrPort(who caller.Caller) netip.AddrPort {
	if who.Address == "" {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)
	}
	p, _ := netip.ParseAddrPort(who.Address)
	return p
}

type tlsKey struct{}

// OverTLS returns the context of connections that are made with TLS.
func OverTLS(ctx context.Context) context.Context {
	return context.WithValue(ctx, tlsKey{}, true)
}

func overTLS(ctx context.Context) bool {
	return ctx.Value(tlsKey{}) != nil
}

// localPort is the port that a request came to, 0 for what is not a request.
func localPort(ctx context.Context) int {
	if local, ok := ctx.Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return local.Port
	}
	return 0
}

// Through returns ctx with what served says of the way a request came, and whether a plugin sent it for nobody: for a call
// that is made while it is served, with its caller.
func Through(ctx, served context.Context) context.Context {
	if local := served.Value(http.LocalAddrContextKey); local != nil {
		ctx = context.WithValue(ctx, http.LocalAddrContextKey, local)
	}
	if overTLS(served) {
		ctx = OverTLS(ctx)
	}
	if IsPlugin(served) {
		ctx = context.WithValue(ctx, pluginKey{}, served.Value(pluginKey{}))
	}
	return ctx
}
