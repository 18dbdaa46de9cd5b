package aaa

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/shell"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/aaa/token"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Console is the way in of the console over SSH: the same users, realms and
// throttling as over HTTP.
type Console struct{ a *AAA }

// Console returns the console's way in.
func (a *AAA) Console() *Console {
	return &Console{a: a}
}

// Password verifies a user's password, and returns besides what looks the user up as of now. The fault is Denied for
// wrong credentials and Unavailable when too many were wrong.
func (c *Console) Password(
	ctx context.Context,
	user, password, address string,
) (caller.Caller, func(context.Context) (caller.Caller, error), error) {
	l, err := c.verifyPassword(ctx, user, password, address)
	if err != nil {
		return caller.Caller{}, nil, err
	}
	who := caller.Caller{
		User:    l.User,
		Domain:  l.Domain,
		Roles:   l.Roles,
		Address: address,
	}
	if !l.Local {
		return who, c.lookUpOutside(l, who), nil
	}
	if c.a.identity.MustChange(l.Principal) != "" {
		who.Roles = nil // to change the password, and nothing else
	}
	return who, func(ctx context.Context) (caller.Caller, error) {
		return c.lookUpLocal(ctx, l.User)
	}, nil
}

// verifyPassword is the login by a password.
func (c *Console) verifyPassword(
	ctx context.Context,
	user, password, address string,
) (*authn.Login, error) {
	from, _ := netip.ParseAddrPort(address) // the console on the machine itself has none
	l, err := c.a.authn.Login(ctx, authn.Credentials{
		User:     user,
		Password: password,
		Address:  from,
	})
	var slow *throttle.BlockedError
	var silent *authn.UnavailableError
	switch {
	case errors.As(err, &slow):
		return nil, fault.Wrap(fault.Unavailable, err, "%s", slow.Error())
	case errors.As(err, &silent):
		return nil, fault.Wrap(
			fault.Unavailable,
			err,
			"the login cannot be verified now: %s",
			silent.Error(),
		)
	case errors.Is(err, authn.ErrRefused):
		return nil, fault.Wrap(fault.Denied, err, "user name or password is wrong")
	case err != nil:
		return nil, err
	case l.Local && l.Domain != identity.SDN:
		return nil, fault.New(
			fault.Denied,
			"the console is open to users of domain %s only",
			identity.SDN,
		)
	}
	return l, nil
}

// errOver is the end of a session whose user may not log in any more.
var errOver = fault.New(fault.Denied, "the user is no longer allowed to log in")

// lookUpLocal returns a user of this controller as of now.
func (c *Console) lookUpLocal(ctx context.Context, user string) (caller.Caller, error) {
	p, err := c.a.identity.Principal(ctx, user+"@"+identity.SDN)
	if err != nil {
		return caller.Caller{}, err
	}
	if !p.MayLogIn() {
		return caller.Caller{}, errOver
	}
	return c.callerOfPrincipal(p), nil
}

// lookUpOutside returns what looks a user of another realm up as of now. Where the realm cannot look users up, or does not
// answer, the roles of the login, or those that were found last, hold for token.HeldFor.
func (c *Console) lookUpOutside(
	l *authn.Login,
	who caller.Caller,
) func(context.Context) (caller.Caller, error) {
	var mu sync.Mutex // sessions of one connection ask at the same time
	until := c.a.o.Now().Add(token.HeldFor)
	return func(ctx context.Context) (caller.Caller, error) {
		mu.Lock()
		defer mu.Unlock()
		found, err := c.a.authn.Find(ctx, *l.Outside)
		var lost *authn.NotFindableError
		var silent *authn.UnavailableError
		now := c.a.o.Now()
		switch {
		case err == nil && len(found.Roles) == 0, errors.Is(err, authn.ErrRefused):
			return caller.Caller{}, errOver
		case err == nil:
			who.Roles, until = found.Roles, now.Add(token.HeldFor)
		case !errors.As(err, &lost) && !errors.As(err, &silent):
			return caller.Caller{}, err
		case !now.Before(until):
			return caller.Caller{}, fault.New(
				fault.Denied,
				"the realm %s has not confirmed the user for %s: log in again",
				l.Realm,
				token.HeldFor,
			)
		}
		return who, nil
	}
}

// callerOfPrincipal is a user of this controller as the console knows it.
func (c *Console) callerOfPrincipal(p *identity.Principal) caller.Caller {
	who := caller.Caller{
		User:   p.Name,
		Domain: p.Domain,
		Roles:  p.Roles,
	}
	if c.a.identity.MustChange(p) != "" {
		who.Roles = nil // to change the password, and nothing else
	}
	return who
}

// Commands are the aaa: commands that manage identities.
func (a *AAA) Commands() []commands.Command {
	return shell.Commands(shell.Options{
		Identity: a.identity,
		Login: func(ctx context.Context, user, password, address string) (caller.Caller, error) {
			who, _, err := a.Console().Password(ctx, user, password, address)
			return who, err
		},
	})
}

// OwnCommands are those of users who may do nothing else at the console: about their own account.
func (a *AAA) OwnCommands() []commands.Command {
	own := shell.OwnCommands(func(ctx context.Context, user, current, fresh, address string) error {
		from, _ := netip.ParseAddrPort(address)
		return a.ownPassword(ctx, user, current, fresh, from)
	})
	return append(own, a.askCommand())
}

// RealmCommands are realm:list, realm:test and access:*.
func (a *AAA) RealmCommands() []commands.Command {
	return append(slices.Concat(
		shell.RealmCommands(a.authn),
		a.keyCommands(),
		a.throttleCommands(),
		a.blockCommands(),
		a.roleCommands(),
		a.rightCommands(),
		a.requestCommands(),
	), []commands.Command{
		{
			Name:    "access:explain",
			Summary: "show which line, realm, role and policy decide a request, and why",
			Safe:    true,
			Run:     a.explainCommand,
			Help: "Decides the request as if it came now from the machine itself, at every address of the thing; the strictest answer holds.\n\n" +
				"access:explain user POST /restconf/operations/switch-db:clear-db\naccess:explain ldapRealm/alice GET /auth/v1/users",
			Arguments: []commands.Argument{{
				Name:     "user",
				Help:     "NAME, NAME@DOMAIN, or REALM/NAME for one of another realm",
				Required: true,
			},
				{
					Name:     "method",
					Help:     "of the request",
					Required: true,
					Values:   []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"},
				},
				{
					Name:     "path",
					Help:     "of the request",
					Required: true,
				}},
			Options: []commands.Option{{
				Name: "input",
				Help: "JSON, without the member input: what the operation gets, to explain rights by port with",
			}},
		},
		{
			Name:    "access:rules",
			Summary: "show the rules of [urls] in etc/sec.ini, in their order",
			Safe:    true,
			Run:     a.rulesCommand,
			Help:    "The first whose pattern matches decides; what none matches needs a login. They are changed in the file.",
		},
		{
			Name:    "access:tokens",
			Summary: "show who has tokens and sessions, and until when; not their text",
			Safe:    true,
			Run:     a.tokensCommand,
			Help: "A token that a new password or a revocation has ended stays in the list until it is removed, within the hour.\n" +
				"One is ended by its ID: curl -u admin -X DELETE http://127.0.0.1:8181/web/sessions/ID",
		},
	}...)
}

func (a *AAA) rulesCommand(_ context.Context, in *commands.Invocation) error {
	t := &commands.Table{
		Empty: "No rules",
		Columns: []commands.Column{{
			Title: "Line",
			Key:   "line",
			Right: true,
		}, {
			Title: "Pattern",
			Key:   "pattern",
		}, {Title: "Filters", Key: "filters"}},
	}
	for _, r := range a.rules.Rules() {
		t.Add(r.Line, r.Pattern.String(), commands.List(", ", strings.Split(r.Text, ", ")))
	}
	return in.Emit(t, nil)
}

func (a *AAA) tokensCommand(ctx context.Context, in *commands.Invocation) error {
	all, err := a.tokens.All(ctx)
	if err != nil {
		return err
	}
	t := &commands.Table{
		Empty: "No tokens",
		Columns: []commands.Column{{
			Title: "User",
			Key:   "user",
		}, {Title: "Kind", Key: "kind"},
			{
				Title: "From",
				Key:   "from",
			}, {
				Title: "Began",
				Key:   "began",
			}, {
				Title: "Ends",
				Key:   "expires",
			}, {Title: "ID", Key: "id"}},
	}
	for _, k := range all {
		t.Add(
			k.User,
			k.Kind,
			k.From,
			k.Began.UTC().Format(time.RFC3339),
			k.Expires.UTC().Format(time.RFC3339),
			k.ID,
		)
	}
	return in.Emit(t, nil)
}

func (a *AAA) explainCommand(ctx context.Context, in *commands.Invocation) error {
	x, err := a.ExplainInput(
		ctx,
		in.Arg("user"),
		in.Arg("method"),
		in.Arg("path"),
		in.Option("input"),
	)
	if err != nil {
		return err
	}
	return in.Emit(x, x.String)
}

// String is the explanation for people.
func (x *Explanation) String() string {
	answer := "refused (" + x.Verdict + ")"
	if x.Allowed {
		answer = "allowed"
	}
	text := fmt.Sprintf(
		"%s %s by %s: %s\n  %s\n  realm %s, roles: %s\n",
		x.Method,
		x.Path,
		x.User,
		answer,
		x.Reason,
		x.Realm,
		strings.Join(x.Roles, ", "),
	)
	if x.Login != "" {
		text += "  cannot log in: " + x.Login + "\n"
	}
	if x.Role != "" {
		text += "  " + x.Role + "\n"
	}
	if x.Rights != "" {
		text += "  rights by port: " + x.Rights + "\n"
	}
	for _, v := range x.Addresses {
		rule, mark := "no line matches: a login is needed", " "
		if v.Line > 0 {
			rule = fmt.Sprintf("line %d: %s", v.Line, v.Rule)
		}
		if v.Policy != "" {
			rule += "; " + v.Policy
		}
		if v.Decisive {
			mark = "*"
		}
		text += fmt.Sprintf("%s %s: %s: %s\n", mark, v.Address, v.Verdict, rule)
	}
	return text
}
