package authn

import (
	"context"

	"ctl.internal/sdk/fault"
)

// Still returns a login as it is now, for a request that lasts: ErrRefused when its
// credentials would not be good any more. An outside realm cannot be asked without the
// password, so its users stay what they were.
func (a *Authenticator) Still(ctx context.Context, l *Login) (*Login, error) {
	if l.token != "" {
		lookup := a.o.Tokens.Lookup
		if l.session {
			lookup = a.o.Tokens.LookupSession
		}
		if h, err := lookup(ctx, l.token); err != nil || !h.Known() {
			return nil, refusedOr(err)
		}
	}
	if !l.Local && l.token != "" {
		return a.Find(ctx, *l.Outside)
	}
	if !l.Local {
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

func refusedOr(err error) error {
	if err != nil {
		return err
	}
	return ErrRefused
}
