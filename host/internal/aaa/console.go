package aaa

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/shell"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Console is the way in of the console over SSH: the same users, realms and
// throttling as over HTTP.
type Console struct {
	a *AAA

	mu      sync.Mutex
	outside map[string]outsider // users of outside realms, who cannot be looked up
}

type outsider struct {
	caller.Caller
	until time.Time
}

// How long the word of an outside realm counts without asking again, and for how
// many users it is remembered.
const (
	outsideFor  = 8 * time.Hour
	maxOutsider = 1000
)

// Console returns the console's way in.
func (a *AAA) Console() *Console { return &Console{a: a, outside: map[string]outsider{}} }

// Password verifies a user's password. The fault is Denied for wrong credentials
// and Unavailable when too many were wrong.
func (c *Console) Password(ctx context.Context, user, password, address string) (caller.Caller, error) {
	from, _ := netip.ParseAddrPort(address) // the console on the machine itself has none
	l, err := c.a.authn.Login(ctx, authn.Credentials{User: user, Password: password, Address: from})
	var slow *throttle.BlockedError
	var silent *authn.UnavailableError
	switch {
	case errors.As(err, &slow):
		return caller.Caller{}, fault.Wrap(fault.Unavailable, err, "%s", slow.Error())
	case errors.As(err, &silent):
		return caller.Caller{}, fault.Wrap(fault.Unavailable, err, "the login cannot be verified now: %s", silent.Error())
	case errors.Is(err, authn.ErrRefused):
		return caller.Caller{}, fault.Wrap(fault.Denied, err, "user name or password is wrong")
	case err != nil:
		return caller.Caller{}, err
	case l.Local && l.Domain != identity.SDN:
		return caller.Caller{}, fault.New(fault.Denied, "the console is open to users of domain %s only", identity.SDN)
	}
	who := caller.Caller{User: l.User, Domain: l.Domain, Roles: l.Roles, Address: address}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.outside, who.User) // the last login decides which realm's user it is
	if !l.Local {
		if len(c.outside) >= maxOutsider {
			clear(c.outside)
		}
		c.outside[who.User] = outsider{who, c.a.o.Now().Add(outsideFor)}
	}
	return who, nil
}

// Current returns a user as of now; the fault is Denied when the user may not log
// in any more.
func (c *Console) Current(ctx context.Context, user string) (caller.Caller, error) {
	c.mu.Lock()
	o, ok := c.outside[user]
	c.mu.Unlock()
	if ok && c.a.o.Now().Before(o.until) {
		return o.Caller, nil
	}
	p, err := c.a.identity.Principal(ctx, user+"@"+identity.SDN)
	if err != nil {
		return caller.Caller{}, err
	}
	if !p.MayLogIn() {
		return caller.Caller{}, fault.New(fault.Denied, "the user may not log in any more")
	}
	return caller.Caller{User: p.Name, Domain: p.Domain, Roles: p.Roles}, nil
}

// Commands are the aaa: commands that manage identities.
func (a *AAA) Commands() []commands.Command {
	return shell.Commands(shell.Options{Identity: a.identity, Login: a.Console().Password})
}

// RealmCommands are realm:list and realm:test.
func (a *AAA) RealmCommands() []commands.Command { return shell.RealmCommands(a.authn) }
