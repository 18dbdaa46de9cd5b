package authn

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa/act"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/token"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/realm"
)

// foundFor is how long the rights of a user who was looked up at an outside realm are believed, and
// maxFound of how many users.
const (
	foundFor = time.Minute
	maxFound = 10_000
)

// lookedUp is a user who was looked up.
type lookedUp struct {
	login *Login
	epoch uint64
	until time.Time
}

// NotFindableError says why a realm cannot look a user up without the password.
type NotFindableError struct{ Reason string }

// Error returns the reason, for the user.
func (e *NotFindableError) Error() string { return e.Reason }

// Find looks a user of an outside realm up without the password, with the rights that it has now, or had
// within the last minute. The error is ErrRefused when the realm does not let the user log in any
// more, a *NotFindableError when the realm cannot look users up, an *UnavailableError when it cannot now.
func (a *Authenticator) Find(ctx context.Context, who token.Outside) (*Login, error) {
	var r Realm
	for _, one := range a.o.Realms {
		if one.Name == who.Realm {
			r = one
		}
	}
	if r.Outside == nil {
		return nil, ErrRefused // etc/sec.ini names another realm now
	}
	who.Domain = r.domain(who.Domain)
	held := loginOf(who)
	if a.isLoginBlocked(held) {
		return nil, ErrRefused
	}
	if who.Held {
		if who.Roles != "" {
			held.Roles = strings.Split(who.Roles, "\n")
		}
		return held, nil
	}
	epoch, now := r.epoch(), a.o.Now()
	f, ok := a.found.Get(who)
	if ok && f.epoch == epoch && now.Before(f.until) {
		return a.unlessBlocked(f.login)
	}
	finder, ok := r.Outside.(realm.Finder)
	if !ok {
		return nil, &NotFindableError{"the realm " + r.Name + " cannot look a user up without the password"}
	}
	res, err := inPlace(ctx, r, func(ctx context.Context) (realm.Result, error) {
		return finder.Find(ctx, who.User, who.Domain)
	})
	switch {
	case errors.Is(err, realm.ErrNoFinder):
		return nil, &NotFindableError{"the realm " + r.Name + " cannot look a user up without the password: it needs a system or service account in etc/sec.ini"}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil || res.Outcome == realm.Unavailable:
		return nil, &UnavailableError{Realm: r.Name}
	case res.Outcome != realm.Authenticated:
		return nil, ErrRefused
	}
	l := outsideLogin(r, who.User, who.Domain, res)
	a.found.Put(who, lookedUp{l, epoch, now.Add(foundFor)}, nil)
	return a.unlessBlocked(l)
}

// unlessBlocked is a copy of a login that was looked up: tokens of earlier releases do not say how the realm names the user.
func (a *Authenticator) unlessBlocked(l *Login) (*Login, error) {
	if a.isLoginBlocked(l) {
		return nil, ErrRefused
	}
	copied := *l
	return &copied, nil
}

// outsideLogin is the login of a user whose name was given. Of all spellings of a name that the realm takes for the same one, its
// tokens, sessions and records have the one that the realm returns.
func outsideLogin(r Realm, name, domain string, res realm.Result) *Login {
	if identity.Folded(res.Principal) == identity.Folded(name) {
		name = res.Principal
	}
	l := loginOf(token.Outside{
		Realm:     r.Name,
		User:      name,
		Domain:    r.domain(domain),
		Principal: cmp.Or(res.Principal, name),
	})
	l.Roles = res.Roles
	return l
}

// loginOf is the login of an outside user, without roles.
func loginOf(who token.Outside) *Login {
	l := &Login{
		Realm:   who.Realm,
		Outside: &who,
	}
	l.User, l.Domain = who.Names()
	return l
}

// isBlocked reports whether a user of an outside realm may not log in here.
func (a *Authenticator) isBlocked(realm, name, domain string) bool {
	return a.o.Blocked(realm, a.throttleAccount(name, domain))
}

// isLoginBlocked reports whether the user of an outside login may not log in here, by whichever spelling of the name that was
// said: as it was typed, as the realm names the user, or as the controller does.
func (a *Authenticator) isLoginBlocked(l *Login) bool {
	name, domain, _ := strings.Cut(l.User, "@")
	return a.isBlocked(l.Realm, l.Outside.User, l.Outside.Domain) ||
		a.isBlocked(l.Realm, cmp.Or(l.Outside.Principal, l.Outside.User), l.Outside.Domain) ||
		a.isBlocked(l.Realm, name, domain) ||
		a.isBlocked(l.Realm, l.User, l.Domain)
}

// OutsideRealms are the names of the realms that have users of their own.
func (a *Authenticator) OutsideRealms() []string {
	var names []string
	for _, r := range a.o.Realms {
		if r.Outside != nil {
			names = append(names, r.Name)
		}
	}
	return names
}

// Still returns a login as it is now, for a request that lasts: ErrRefused when its
// credentials would not be good any more. An outside realm cannot be asked without the
// password, so its users stay what they were.
func (a *Authenticator) Still(ctx context.Context, l *Login) (*Login, error) {
	if l.token != "" {
		h, err := a.o.Tokens.Lookup(ctx, l.token, l.session)
		if err != nil || !h.Known() {
			return nil, cmp.Or(err, ErrRefused)
		}
	}
	if !l.Local && l.token != "" {
		return a.Find(ctx, *l.Outside)
	}
	if !l.Local {
		if a.isLoginBlocked(l) || l.bearer && !a.o.Now().Before(l.ends) {
			return nil, ErrRefused
		}
		return l, nil
	}
	p, err := a.o.Identity.Principal(ctx, l.User+"@"+l.Domain)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return nil, err
	}
	if err != nil || p.Epoch != l.epoch || !p.MayLogIn() {
		return nil, ErrRefused
	}
	now := localLogin(p, l.Realm)
	now.token, now.session = l.token, l.session
	return now, nil
}

// SentBy gives the recorder of a request, if it has one, the name of who sends it.
func (a *Authenticator) SentBy(ctx context.Context, l *Login) {
	of := act.Of(ctx)
	if of == nil {
		return
	}
	by := act.Sender{
		User:  l.User + "@" + l.Domain,
		Realm: l.Realm,
	}
	if l.token != "" {
		by.Credential = a.o.Tokens.IDOf(ctx, l.token, l.session)
	}
	for _, r := range a.o.Realms {
		if l.Local && r.Outside == nil {
			by.Realm = r.Name // also of a token
		}
	}
	of.SentBy(by)
}
