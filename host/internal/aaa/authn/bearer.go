package authn

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa/token"
	"ctl.internal/sdk/realm"
)

// loginForeignToken verifies a token that is none of the controller's own: the realms that take tokens are
// asked in order. It is not throttled: such a token cannot be guessed, and names no account before it is
// verified. How many are verified at once each realm bounds.
func (a *Authenticator) loginForeignToken(
	ctx context.Context,
	text string,
	from netip.AddrPort,
) (*Login, error) {
	d := a.digests.digestOf('t', text)
	l := a.cachedLogin(ctx, d)
	if l == nil {
		generation := a.o.Identity.Generation()
		key := a.flightKey(d, generation, from.Addr())
		var err error
		l, err = a.flights.Do(ctx, key, func(ctx context.Context) (*Login, error) {
			return a.verifyForeignToken(ctx, d, text, from, generation)
		})
		if err != nil {
			return nil, err
		}
	}
	a.o.Attempt(ctx, Attempt{
		User:    l.User,
		Realm:   l.Realm,
		Address: from,
		OK:      true,
		Reason:  l.grounds,
	})
	return l, nil
}

func (a *Authenticator) verifyForeignToken(
	ctx context.Context,
	d digest,
	text string,
	from netip.AddrPort,
	generation uint64,
) (*Login, error) {
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	if l := a.cachedLogin(ctx, d); l != nil { // the flight before this one
		return l, nil
	}
	var no refusal
	sent := realm.Credentials{
		Bearer:  text,
		Address: from.String(),
	}
	for _, r := range a.o.Realms {
		if r.Outside == nil || !realm.Takes(r.Outside, realm.Bearer) {
			continue // without a word in the log: most realms take no tokens
		}
		v, err := a.askOutside(ctx, r, &no, sent, Credentials{Address: from})
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		if v.generation = generation; a.o.CacheFor > 0 {
			a.cache.Put(d, v, nil)
		}
		return v.login, nil
	}
	a.o.Attempt(ctx, Attempt{
		Address: from,
		Reason:  "a token: " + no.reasonText(),
	})
	if no.silent != "" {
		return nil, &UnavailableError{Realm: no.silent}
	}
	return nil, ErrRefused
}

// bindToToken makes a login that of a token: it ends with the token.
func (a *Authenticator) bindToToken(v *verified, r Realm, res realm.Result) {
	l, now := v.login, a.o.Now()
	l.bearer, l.ends = true, now.Add(token.HeldFor)
	if !res.Expires.IsZero() {
		l.ends = res.Expires
		v.until = earlier(v.until, res.Expires)
	}
	l.Outside.User = l.Outside.Principal
	l.Outside.Held, l.Outside.Roles = true, strings.Join(l.Roles, "\n")
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
