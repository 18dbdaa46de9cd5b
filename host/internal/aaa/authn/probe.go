package authn

import (
	"context"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/realm"
)

// Answer is what one realm says to credentials.
type Answer struct {
	Realm  string
	Kind   string
	Result realm.Result
	Took   time.Duration
}

// Probe asks every realm in order, also those after the one that would decide, and
// remembers nothing. A failed probe counts as a failed login: otherwise it would be a
// way to guess passwords undisturbed.
func (a *Authenticator) Probe(ctx context.Context, c Credentials) ([]Answer, error) {
	name, domain, ok := splitUser(c.User)
	if !ok || c.Password == "" || len(c.Password) > maxCredentials {
		return nil, fault.New(fault.Invalid, "write NAME or NAME@DOMAIN, and a password that is not empty")
	}
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	counted, from := name+"@"+orSDN(domain), c.Address.Addr()
	delay, retry := a.o.Throttle.Begin(counted, from)
	if retry > 0 {
		return nil, fault.New(fault.Unavailable, "%s", (&ThrottledError{retry}).Error())
	}
	if err := a.o.Wait(ctx, delay); err != nil {
		return nil, err
	}
	var out []Answer
	good := false
	for _, r := range a.o.Realms {
		began := a.o.Now()
		res, err := a.probeOne(ctx, r, realm.Credentials{User: name, Domain: domain, Password: c.Password, Address: c.Address.String()})
		if err != nil {
			res = realm.Result{Outcome: realm.Unavailable, Reason: err.Error()}
		}
		good = good || res.Outcome == realm.Authenticated
		out = append(out, Answer{Realm: r.Name, Kind: r.Kind, Result: res, Took: a.o.Now().Sub(began)})
	}
	a.settle(ctx, counted, c, good)
	return out, nil
}

func (a *Authenticator) probeOne(ctx context.Context, r Realm, c realm.Credentials) (realm.Result, error) {
	if r.Outside != nil {
		return outside(ctx, r, c)
	}
	p, err := a.o.Identity.Verify(ctx, c.User, orSDN(c.Domain), c.Password)
	if err != nil || p == nil {
		return realm.Result{}, err
	}
	return realm.Result{Outcome: realm.Authenticated, Principal: p.Name, Roles: p.Roles}, nil
}

func (a *Authenticator) settle(ctx context.Context, counted string, c Credentials, good bool) {
	if good {
		a.o.Throttle.Succeeded(counted, c.Address.Addr())
	}
	a.o.Attempt(ctx, Attempt{User: c.User, Realm: "realm:test", Address: c.Address, OK: good})
}

// Realms lists the realms in the order they are tried.
func (a *Authenticator) Realms() []Realm { return append([]Realm(nil), a.o.Realms...) }
