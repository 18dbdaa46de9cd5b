package aaa

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/sdk/fault"
)

// ownPassword changes the password of a user who sends the present one. Guesses at that are throttled
// as all guesses are.
func (a *AAA) ownPassword(
	ctx context.Context,
	user, current, fresh string,
	from netip.AddrPort,
) error {
	if at := strings.LastIndexByte(user, '@'); at >= 0 && slices.Contains(a.authn.OutsideRealms(), user[at+1:]) {
		return errElsewhere(user[at+1:])
	}
	l, err := a.authn.Login(ctx, authn.Credentials{
		User:     user,
		Password: current,
		Address:  from,
	})
	var slow *throttle.BlockedError
	var silent *authn.UnavailableError
	switch {
	case errors.As(err, &slow), errors.As(err, &silent):
		return fault.Wrap(fault.Unavailable, err, "%v", err)
	case errors.Is(err, authn.ErrRefused):
		return fault.At(fault.Invalid, "current", "this is not the current password")
	case err != nil:
		return err
	case !l.Local:
		return errElsewhere(l.Realm)
	case current == fresh:
		return fault.At(fault.Invalid, "password", "this is the current password; choose another")
	}
	_, err = a.identity.UpdateUser(ctx, l.User+"@"+l.Domain, identity.UserChange{
		Password: &fresh,
		Own:      true,
	})
	return err
}

// errElsewhere is why a user of another realm has no password to change here.
func errElsewhere(realm string) error {
	return fault.New(fault.Invalid, "the realm %s stores the password: change it there", realm)
}
