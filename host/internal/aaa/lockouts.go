package aaa

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// throttleCommands are access:throttled and access:unblock.
func (a *AAA) throttleCommands() []commands.Command {
	return []commands.Command{
		{
			Name:    "access:throttled",
			Summary: "show the accounts and addresses that are delayed or blocked for failed logins",
			Safe:    true,
			Run:     a.throttledCommand,
			Help:    "Each node of a cluster counts by itself. An account with an address is counted there alone: the user has logged in from it before.",
		},
		{
			Name:    "access:unblock",
			Summary: "forget the failed logins of an account or an address, or end an access:block",
			Run:     a.unblockCommand,
			Help:    "access:unblock bob@sdn\naccess:unblock 192.0.2.1\naccess:unblock ldapRealm/ann",
			Arguments: []commands.Argument{{
				Name:     "what",
				Help:     "an account or an address, as access:throttled shows it, or REALM/NAME, as access:blocked does",
				Required: true,
			}},
		},
	}
}

// Lockouts are the accounts and addresses that are delayed or blocked on this node.
func (a *AAA) Lockouts() []throttle.Lockout { return a.limiter.Lockouts() }

func (a *AAA) throttledCommand(_ context.Context, in *commands.Invocation) error {
	t := &commands.Table{
		Empty: "Nothing is delayed or blocked",
		Columns: []commands.Column{{
			Title: "Account",
			Key:   "account",
		}, {Title: "Address", Key: "address"},
			{
				Title: "State",
				Key:   "state",
			}, {
				Title: "Failures",
				Key:   "failures",
				Right: true,
			}, {Title: "Until", Key: "until"}},
	}
	for _, o := range a.Lockouts() {
		from, until := "", ""
		if o.From.IsValid() {
			from = o.From.String()
		}
		if !o.Until.IsZero() {
			until = o.Until.UTC().Format(time.RFC3339)
		}
		t.Add(o.User, from, o.State, o.Failures, until)
	}
	return in.Emit(t, nil)
}

func (a *AAA) unblockCommand(ctx context.Context, in *commands.Invocation) error {
	what := in.Arg("what")
	if strings.Contains(what, "/") {
		return a.unblockSubject(ctx, in, what)
	}
	found := false
	if from, err := netip.ParseAddr(what); err == nil {
		found = a.limiter.Unblock("", from)
	} else {
		name, domain, _ := strings.Cut(what, "@")
		found = a.limiter.Unblock(a.authn.Account(name, domain), netip.Addr{})
	}
	if !found {
		return fault.New(fault.NotFound, "there are no failed logins of %s", what)
	}
	a.recorder.Change(caller.With(ctx, in.Caller), "unblock logins", what)
	return in.Emit(map[string]string{"unblocked": what}, func() string {
		return "the failed logins of " + what + " are forgotten\n"
	})
}
