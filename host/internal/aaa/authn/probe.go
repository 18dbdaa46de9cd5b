package authn

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/aaa/token"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/realm"
)

// Answer is what one realm says to credentials.
type Answer struct {
	Realm  string
	Result realm.Result
	Took   time.Duration
}

// Probe asks every realm in order, also those after the one that would decide, and
// remembers nothing. A failed probe counts as a failed login: otherwise it would be a
// way to guess passwords undisturbed.
func (a *Authenticator) Probe(ctx context.Context, c Credentials) ([]Answer, error) {
	name, domain, ok := splitUser(c.User)
	if !ok || c.Password == "" || len(c.Password) > maxCredentials {
		return nil, fault.New(
			fault.Invalid,
			"write NAME or NAME@DOMAIN, and a password that is not empty",
		)
	}
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	turn, err := a.waitForTurn(ctx, a.throttleAccount(name, domain), c.Address.Addr())
	if blocked := new(throttle.BlockedError); errors.As(err, &blocked) {
		return nil, fault.Wrap(fault.Unavailable, err, "%s", blocked.Error())
	}
	if err != nil {
		return nil, err
	}
	defer turn.Cancelled()
	out, good := a.probeAll(ctx, realm.Credentials{
		User:     name,
		Domain:   domain,
		Password: c.Password,
		Address:  c.Address.String(),
	})
	if good {
		turn.Succeeded()
	} else {
		turn.Failed()
	}
	a.o.Attempt(ctx, Attempt{
		User:    c.User,
		Realm:   "realm:test",
		Address: c.Address,
		OK:      good,
	})
	return out, nil
}

// ProbeToken asks every realm about a token of another issuer, as Probe does about a password.
func (a *Authenticator) ProbeToken(
	ctx context.Context,
	text string,
	from netip.AddrPort,
) ([]Answer, error) {
	switch {
	case text == "" || len(text) > maxCredentials:
		return nil, fault.New(
			fault.Invalid,
			"write the token, without \"Bearer\", in at most %d bytes",
			maxCredentials,
		)
	case token.WellFormed(text):
		return nil, fault.New(
			fault.Invalid,
			"it has the form of this controller's own tokens, which no realm is asked about",
		)
	}
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	out, good := a.probeAll(ctx, realm.Credentials{
		Bearer:  text,
		Address: from.String(),
	})
	a.o.Attempt(ctx, Attempt{
		Realm:   "realm:test",
		Address: from,
		OK:      good,
	})
	return out, nil
}

// probeAll asks every realm, and reports whether one of them lets the user in.
func (a *Authenticator) probeAll(
	ctx context.Context,
	c realm.Credentials,
) (out []Answer, good bool) {
	for _, r := range a.o.Realms {
		began := a.o.Now()
		res, err := a.probeOne(ctx, r, c)
		if err != nil {
			res = realm.Result{
				Outcome: realm.Unavailable,
				Reason:  err.Error(),
			}
		}
		good = good || res.Outcome == realm.Authenticated
		out = append(out, Answer{
			Realm:  r.Name,
			Result: res,
			Took:   a.o.Now().Sub(began),
		})
	}
	return out, good
}

func (a *Authenticator) probeOne(
	ctx context.Context,
	r Realm,
	c realm.Credentials,
) (realm.Result, error) {
	if r.Outside != nil {
		return authenticateOutside(ctx, r, c)
	}
	if c.Kind() != realm.Password {
		return realm.Result{Reason: "its tokens have another form"}, nil
	}
	p, err := a.o.Identity.Verify(ctx, c.User, orSDN(c.Domain), c.Password)
	if err != nil || p == nil {
		return realm.Result{}, err
	}
	return realm.Result{
		Outcome:   realm.Authenticated,
		Principal: p.Name,
		Roles:     p.Roles,
	}, nil
}

// Realms lists the realms in the order they are tried.
func (a *Authenticator) Realms() []Realm {
	return append([]Realm(nil), a.o.Realms...)
}
