package authn

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"ctl.internal/host/internal/aaa/cache"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/aaa/token"
	"ctl.internal/internal/together"
	"ctl.internal/sdk/fault"
)

// Options are what an Authenticator needs. Identity and Realms are required.
type Options struct {
	Identity *identity.Service
	Realms   []Realm
	Tokens   *token.Service // nil = no bearer tokens
	Throttle *throttle.Limiter
	// Blocked reports whether an account of an outside realm may not log in; nil = all may.
	Blocked func(realm, account string) bool
	// Attempt is called with every login, good or bad; it must not block.
	Attempt  func(context.Context, Attempt)
	CacheFor time.Duration // how long one of an outside realm is believed; 0 = 1 minute, less = not at all
	Now      func() time.Time
	// Wait delays an answer; nil = a timer.
	Wait func(context.Context, time.Duration) error
	// Waiting is called while a request waits for the verification of its password, until
	// the function it returns is called; nil = not used.
	Waiting func(context.Context) func()
}

// Authenticator verifies credentials. It is safe for concurrent use.
type Authenticator struct {
	o       Options
	digests digests
	cache   *cache.Map[digest, *verified]
	// flights are the verifications under way: equal credentials are verified once.
	flights together.Group[*Login]
	// waiting bounds the logins that are being delayed.
	waiting chan struct{}
	found   *cache.Map[token.Outside, lookedUp]
}

// New returns an Authenticator.
func New(o Options) *Authenticator {
	o.CacheFor = cmp.Or(o.CacheFor, time.Minute)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Throttle == nil {
		o.Throttle = throttle.New(throttle.Settings{}, o.Now)
	}
	if o.Blocked == nil {
		o.Blocked = func(string, string) bool { return false }
	}
	if o.Attempt == nil {
		o.Attempt = func(context.Context, Attempt) {}
	}
	if o.Wait == nil {
		o.Wait = together.Sleep
	}
	if o.Waiting == nil {
		o.Waiting = func(context.Context) func() { return func() {} }
	}
	return &Authenticator{
		o:       o,
		digests: newDigests(),
		cache:   cache.New[digest, *verified](maxVerified),
		waiting: make(chan struct{}, 1024),
		found:   cache.New[token.Outside, lookedUp](maxFound),
	}
}

// Request verifies the Authorization header of a request that came from an address.
// Present reports whether there was one; the error is ErrRefused, a *throttle.BlockedError or
// the world's.
func (a *Authenticator) Request(
	ctx context.Context,
	h http.Header,
	from netip.AddrPort,
	schemes rules.Schemes,
) (l *Login, present bool, err error) {
	scheme, text, present := parseAuthorizationHeader(h)
	if !present {
		return nil, false, ErrRefused
	}
	switch {
	case scheme == "basic" && schemes&rules.Basic != 0:
		l, err = a.loginBasic(ctx, text, from)
	case scheme == "bearer" && schemes&rules.Bearer != 0:
		l, err = a.loginBearer(ctx, text, from)
	default:
		err = ErrRefused
		a.o.Attempt(
			ctx,
			Attempt{
				Address: from,
				Reason:  "an Authorization header that cannot be used here",
			},
		)
	}
	return l, true, err
}

func (a *Authenticator) loginBasic(
	ctx context.Context,
	text string,
	from netip.AddrPort,
) (*Login, error) {
	d := a.digests.digestOf('b', text)
	if l := a.loginFromCache(ctx, d, from); l != nil {
		return l, nil
	}
	user, password, ok := basicPair(text)
	if !ok {
		a.o.Attempt(ctx, Attempt{
			Address: from,
			Reason:  "the Basic credentials cannot be read",
		})
		return nil, ErrRefused
	}
	return a.loginThrottled(ctx, d, Credentials{
		User:     user,
		Password: password,
		Address:  from,
	})
}

// Login verifies user and password, as the token endpoint and the console do.
func (a *Authenticator) Login(ctx context.Context, c Credentials) (*Login, error) {
	d := a.digests.digestOf('l', strconv.Itoa(len(c.User))+":"+c.User+c.Password)
	if l := a.loginFromCache(ctx, d, c.Address); l != nil {
		return l, nil
	}
	return a.loginThrottled(ctx, d, c)
}

// loginFromCache returns the login of credentials verified before, and accounts for it; nil if there is none.
func (a *Authenticator) loginFromCache(ctx context.Context, d digest, from netip.AddrPort) *Login {
	l := a.cachedLogin(ctx, d)
	if l == nil {
		return nil
	}
	if a.o.Throttle.Failing() { // the common case is no, without a lock
		a.o.Throttle.Seen(a.accountOf(l), from.Addr())
	}
	a.o.Attempt(ctx, Attempt{
		User:    l.User,
		Realm:   l.Realm,
		Address: from,
		OK:      true,
	})
	return l
}

// loginBearer distinguishes the controller's own tokens from those of others by their form, so that neither is shown
// to who has not issued it.
func (a *Authenticator) loginBearer(
	ctx context.Context,
	text string,
	from netip.AddrPort,
) (*Login, error) {
	switch {
	case text == "":
		return nil, ErrRefused
	case !token.WellFormed(text):
		return a.loginForeignToken(ctx, text, from)
	case a.o.Tokens == nil:
		return nil, ErrRefused
	}
	return a.loginTokenHolder(ctx, text, false, from)
}

// loginTokenHolder returns the login of the holder of an access token, or of a browser session.
func (a *Authenticator) loginTokenHolder(
	ctx context.Context,
	token string,
	session bool,
	from netip.AddrPort,
) (*Login, error) {
	h, err := a.o.Tokens.Lookup(ctx, token, session)
	var l *Login
	switch {
	case err != nil:
		return nil, err
	case h.Principal != nil:
		l = localLogin(h.Principal, "token")
	case h.Outside != nil:
		if l, err = a.Find(ctx, *h.Outside); err != nil {
			return nil, err
		}
	default:
		a.o.Attempt(ctx, Attempt{
			Address: from,
			Reason:  "no live token",
		})
		return nil, ErrRefused
	}
	l.token, l.session = token, session
	a.o.Attempt(ctx, Attempt{
		User:    l.User,
		Realm:   l.Realm,
		Address: from,
		OK:      true,
	})
	return l, nil
}

func localLogin(p *identity.Principal, realm string) *Login {
	return &Login{
		User:      p.Name,
		Domain:    p.Domain,
		Roles:     p.Roles,
		Realm:     realm,
		Local:     true,
		Principal: p,
		epoch:     p.Epoch,
	}
}

// cachedLogin returns the login of credentials verified before, as it is now:
// roles are looked up, and any change of password, user or domain ends it.
func (a *Authenticator) cachedLogin(ctx context.Context, d digest) *Login {
	v, ok := a.cache.Get(d)
	if !ok {
		return nil
	}
	if !a.o.Now().Before(v.until) {
		a.cache.Drop(d)
		return nil
	}
	if !v.login.Local {
		if v.generation != a.o.Identity.Generation() || v.realmEpoch != v.realm.epoch() {
			a.cache.Drop(d)
			return nil
		}
		if a.isLoginBlocked(v.login) {
			a.cache.Drop(d)
			return nil
		}
		return v.login
	}
	p, err := a.o.Identity.Principal(ctx, v.id)
	if err != nil || p.Epoch != v.epoch || !p.MayLogIn() {
		if err == nil || fault.KindOf(err) == fault.NotFound {
			a.cache.Drop(d)
		}
		return nil
	}
	return v.loginOf(p)
}
