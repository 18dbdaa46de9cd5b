// Package authn finds out who sends a request: Basic and Bearer credentials,
// the realms of sec.ini in their order, a cache of verified logins and the delay
// that guessing costs.
//
// What somebody may do is rules and policy; the users of the local realm are
// identity's, tokens are package token's.
package authn

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/sdk/realm"
)

// loginTime bounds one login with the wait for its turn: after a restart hundreds may
// come at once, and each of them takes its time. What an outside realm may take is
// bounded by itself.
const loginTime = 5 * time.Minute

// localFor is how long a local login is remembered; any change of the user ends it.
const localFor = time.Hour

// loginThrottled throttles and verifies; equal logins at the same time are verified once.
func (a *Authenticator) loginThrottled(
	ctx context.Context,
	d digest,
	c Credentials,
) (*Login, error) {
	name, domain, ok := splitUser(c.User)
	if !ok || c.Password == "" || len(c.Password) > maxCredentials {
		a.o.Attempt(
			ctx,
			Attempt{
				User:    c.User,
				Address: c.Address,
				Reason:  "no usable name or password",
			},
		)
		return nil, ErrRefused
	}
	// A login that began before a change must not serve one that came after it.
	generation := a.o.Identity.Generation()
	key := a.flightKey(d, generation, c.Address.Addr())
	defer a.o.Waiting(ctx)()
	return a.flights.Do(ctx, key, func(ctx context.Context) (*Login, error) {
		ctx, cancel := context.WithTimeout(ctx, loginTime)
		defer cancel()
		if l := a.cachedLogin(ctx, d); l != nil { // the flight before this one
			return l, nil
		}
		v, err := a.attemptLogin(ctx, c, name, domain, generation)
		if err != nil {
			return nil, err
		}
		if v.login.Local || a.o.CacheFor > 0 {
			a.cache.Put(d, v, nil)
		}
		return v.login, nil
	})
}

// flightKey is equal for logins of which one may serve the other.
func (a *Authenticator) flightKey(d digest, generation uint64, from netip.Addr) string {
	var buf [128]byte
	b := binary.BigEndian.AppendUint64(append(buf[:0], d[:]...), generation)
	for _, r := range a.o.Realms {
		if r.Epoch != nil {
			b = binary.BigEndian.AppendUint64(b, r.Epoch())
		}
	}
	return string(from.AppendTo(b))
}

func (a *Authenticator) attemptLogin(
	ctx context.Context,
	c Credentials,
	name, domain string,
	generation uint64,
) (*verified, error) {
	turn, err := a.waitForTurn(ctx, a.throttleAccount(name, domain), c.Address.Addr())
	if err != nil {
		a.o.Attempt(
			ctx,
			Attempt{
				User:      c.User,
				Address:   c.Address,
				Reason:    err.Error(),
				Throttled: errors.As(err, new(*throttle.BlockedError)),
			},
		)
		return nil, err
	}
	defer turn.Cancelled()
	v, no, err := a.askRealms(password.From(ctx, throttle.Site(c.Address.Addr())), c, name, domain)
	switch {
	case err != nil:
		a.o.Attempt(ctx, Attempt{
			User:    c.User,
			Address: c.Address,
			Reason:  err.Error(),
		})
		return nil, err
	case v == nil:
		if no.isCredentialFailure() {
			turn.Failed()
		}
		a.o.Attempt(ctx, Attempt{
			User:    c.User,
			Address: c.Address,
			Reason:  no.reasonText(),
		})
		if no.silent != "" {
			return nil, &UnavailableError{Realm: no.silent}
		}
		return nil, ErrRefused
	}
	turn.Succeeded()
	a.o.Attempt(
		ctx,
		Attempt{
			User:    v.login.User,
			Realm:   v.login.Realm,
			Address: c.Address,
			OK:      true,
			Reason:  v.login.grounds,
		},
	)
	v.generation = generation
	return v, nil
}

// Account is the spelling by which guesses at an account are counted.
func (a *Authenticator) Account(name, domain string) string {
	return a.throttleAccount(name, domain)
}

// throttleAccount is what guesses at an account are counted by, however its name is written: LAB\\alice, ALICE
// and alice@lab.test are one to a directory service.
func (a *Authenticator) throttleAccount(name, domain string) string {
	directory := slices.ContainsFunc(a.o.Realms, func(r Realm) bool {
		return r.Directory
	})
	at := strings.LastIndexByte(name, '\\')
	if at >= 0 && directory {
		name = name[at+1:]
	}
	if directory {
		return identity.Folded(name)
	}
	return identity.Folded(name) + "@" + strings.ToLower(orSDN(domain))
}

// accountOf is what guesses at the account of a login are counted by.
func (a *Authenticator) accountOf(l *Login) string {
	if l.Outside != nil {
		return a.throttleAccount(l.Outside.User, l.Outside.Domain)
	}
	return a.throttleAccount(l.User, l.Domain)
}

// waitForTurn waits until a password may be verified.
func (a *Authenticator) waitForTurn(
	ctx context.Context,
	counted string,
	from netip.Addr,
) (*throttle.Turn, error) {
	turn, err := a.o.Throttle.Begin(ctx, counted, from)
	if err != nil || turn.Delay == 0 {
		return turn, err
	}
	select {
	case a.waiting <- struct{}{}:
		err = a.o.Wait(ctx, turn.Delay)
		<-a.waiting
	default:
		err = &throttle.BlockedError{Wait: turn.Delay}
	}
	if err != nil {
		turn.Cancelled()
		return nil, err
	}
	return turn, nil
}

// refusal is what the realms said when none knew the credentials.
type refusal struct {
	known  bool     // the local realm holds a user of this name, whose password this is not
	silent string   // the last realm that could not be asked
	said   []string // reasons of those that were
}

// isCredentialFailure reports whether it was the credentials that failed. While a realm cannot be
// asked, those of its users are not known to be wrong: counting them would lock out
// these users, and others at their address, beyond the outage. A user of the local
// realm is counted all the same: an outage must not let anybody guess for nothing.
func (r refusal) isCredentialFailure() bool {
	return r.known || r.silent == ""
}

func (r refusal) reasonText() string {
	text := "no realm knows these credentials"
	if r.silent != "" {
		text = "realm " + r.silent + " cannot be reached"
	}
	if len(r.said) > 0 {
		text += " (" + strings.Join(r.said, "; ") + ")"
	}
	return text
}

// askRealms tries the realms in order until one knows the user by these credentials. The
// work that hides whether a local user exists is done last, before a refusal, so
// that a user whom a later realm knows does not pay for it.
func (a *Authenticator) askRealms(
	ctx context.Context,
	c Credentials,
	name, domain string,
) (*verified, refusal, error) {
	var no refusal
	owed := false
	for _, r := range a.o.Realms {
		if err := ctx.Err(); err != nil {
			return nil, no, err
		}
		if r.Outside == nil {
			p, worked, err := a.o.Identity.Match(ctx, name, orSDN(domain), c.Password)
			if err != nil {
				return nil, no, err
			}
			owed, no.known = owed || !worked, no.known || worked
			if p != nil {
				return &verified{
					login: localLogin(p, r.Name),
					id:    p.ID(),
					epoch: p.Epoch,
					until: a.o.Now().Add(localFor),
				}, no, nil
			}
			continue
		}
		v, err := a.askOutside(ctx, r, &no, realm.Credentials{
			User:     name,
			Domain:   domain,
			Password: c.Password,
			Address:  c.Address.String(),
		}, c)
		if v != nil || err != nil {
			return v, no, err
		}
	}
	if owed {
		return nil, no, a.o.Identity.Waste(ctx, c.Password)
	}
	return nil, no, nil
}

// askOutside asks one outside realm; nil when it does not let the user in, which no says then.
func (a *Authenticator) askOutside(
	ctx context.Context,
	r Realm,
	no *refusal,
	sent realm.Credentials,
	c Credentials,
) (*verified, error) {
	epoch := r.epoch()
	res, err := authenticateOutside(ctx, r, sent)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		res = realm.Result{
			Outcome: realm.Unavailable,
			Reason:  err.Error(),
		}
	}
	if res.Outcome != realm.Authenticated {
		a.noteRefusal(ctx, r, no, res, c)
		return nil, nil
	}
	v := &verified{
		login:      outsideLogin(r, sent.User, sent.Domain, res),
		realm:      r,
		realmEpoch: epoch,
		until:      a.o.Now().Add(a.o.CacheFor),
	}
	v.login.grounds = res.Reason
	if sent.Kind() == realm.Bearer {
		a.bindToToken(v, r, res)
		if !a.o.Now().Before(v.login.ends) {
			no.said = append(no.said, r.Name+": the token has expired")
			return nil, nil
		}
	}
	if a.isLoginBlocked(v.login) || sent.User != "" && a.isBlocked(r.Name, sent.User, sent.Domain) {
		no.said = append(no.said, r.Name+": the user is blocked by access:block")
		return nil, nil
	}
	return v, nil
}

// noteRefusal adds to no what a realm said that did not let the user in.
func (a *Authenticator) noteRefusal(
	ctx context.Context,
	r Realm,
	no *refusal,
	res realm.Result,
	c Credentials,
) {
	if res.Outcome == realm.Unavailable {
		no.silent = r.Name
		a.o.Attempt(ctx, Attempt{
			User:    c.User,
			Realm:   r.Name,
			Address: c.Address,
			Reason:  "unavailable: " + res.Reason,
		})
		return
	}
	if res.Reason != "" {
		no.said = append(no.said, r.Name+": "+res.Reason)
	}
}

// authenticateOutside asks one realm about credentials, if it takes such ones.
func authenticateOutside(ctx context.Context, r Realm, c realm.Credentials) (realm.Result, error) {
	if !realm.Takes(r.Outside, c.Kind()) {
		return realm.Result{Reason: "the realm does not take such credentials"}, nil
	}
	return inPlace(ctx, r, func(ctx context.Context) (realm.Result, error) {
		return r.Outside.Authenticate(ctx, c)
	})
}

// inPlace asks one realm within its own time, whatever it does, once there is a place.
func inPlace(
	ctx context.Context,
	r Realm,
	ask func(context.Context) (realm.Result, error),
) (realm.Result, error) {
	if r.Places != nil {
		select {
		case r.Places <- struct{}{}:
			defer func() { <-r.Places }()
		case <-ctx.Done():
			return realm.Result{}, ctx.Err()
		}
	}
	// That the client has gone is not the realm's fault.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Wait())
	defer cancel()
	res, err := ask(ctx)
	if err == nil && ctx.Err() != nil {
		err = errors.Join(ctx.Err(), errors.New(res.Reason))
	}
	return res, err
}

func orSDN(domain string) string {
	return cmp.Or(domain, identity.SDN)
}
