package aaa

import (
	"context"
	"time"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// askCommand is access:request, which every user has.
func (a *AAA) askCommand() commands.Command {
	return commands.Command{
		Name:    "access:request",
		Summary: "ask for a role for a while",
		Run:     a.runAsk,
		Help:    "access:request operator --for 2h --reason \"exchange of sw3\"\nAnother administrator approves it, and it ends by itself. Requests wait for 24 hours.",
		Arguments: []commands.Argument{{
			Name:     "role",
			Help:     "name of the role",
			Required: true,
		}},
		Options: []commands.Option{
			{
				Name:    "for",
				Help:    "how long, such as 30m or 2h; a week at most",
				Default: "1h",
			},
			{
				Name: "reason",
				Help: "why, for who decides and for the audit",
			},
		},
	}
}

func (a *AAA) runAsk(ctx context.Context, in *commands.Invocation) error {
	if in.Caller.Address == "" {
		return fault.New(
			fault.Unsupported,
			"users do not log in over this socket, so there is nobody who asks; aaa:add-grant gives a role",
		)
	}
	long, err := time.ParseDuration(in.Option("for"))
	if err != nil {
		return fault.At(fault.Invalid, "for", "%.40q is no time; write it as 30m or 2h", in.Option("for"))
	}
	r, err := a.identity.Ask(
		caller.With(ctx, in.Caller),
		in.Caller.ID(),
		in.Arg("role"),
		in.Option("reason"),
		long,
	)
	if err != nil {
		return err
	}
	return in.Emit(map[string]string{"request": r.ID}, func() string {
		return "request " + r.ID + " waits for another administrator: access:approve " + r.ID + "\n"
	})
}

// requestCommands are access:requests, access:approve and access:deny.
func (a *AAA) requestCommands() []commands.Command {
	which := []commands.Argument{{
		Name:     "request",
		Help:     "its ID, as access:requests shows it",
		Required: true,
	}}
	return []commands.Command{
		{
			Name:    "access:requests",
			Summary: "show who asked for which role, for how long, and what was decided",
			Safe:    true,
			Run:     a.requestsCommand,
		},
		{
			Name:      "access:approve",
			Summary:   "give the role that a request asks for, until its time is over",
			Arguments: which,
			Run:       a.decideCommand(true),
			Help:      "Nobody approves a request of his own; who is the only administrator does it at the console on the machine of the controller.",
		},
		{
			Name:      "access:deny",
			Summary:   "refuse a request, or take back the role that an approved one gives",
			Arguments: which,
			Run:       a.decideCommand(false),
			Help:      "An approved request can be denied until its time is over; the role ends at once.",
		},
	}
}

func (a *AAA) requestsCommand(ctx context.Context, in *commands.Invocation) error {
	all, err := a.identity.Requests(ctx)
	if err != nil {
		return err
	}
	t := &commands.Table{
		Empty: "No requests",
		Columns: []commands.Column{
			{Title: "ID", Key: "id"},
			{Title: "User", Key: "user"},
			{Title: "Role", Key: "role"},
			{Title: "For", Key: "for"},
			{Title: "Asked", Key: "asked"},
			{Title: "State", Key: "state"},
			{Title: "By", Key: "by"},
			{Title: "Until", Key: "until"},
			{Title: "Reason", Key: "reason"},
		},
	}
	for _, r := range all {
		until := ""
		if !r.Until.IsZero() {
			until = r.Until.Format(time.RFC3339)
		}
		t.Add(r.ID, r.User, r.Role, r.For.String(), r.Asked.Format(time.RFC3339), r.State, r.Decided, until, r.Reason)
	}
	return in.Emit(t, nil)
}

func (a *AAA) decideCommand(approve bool) func(context.Context, *commands.Invocation) error {
	return func(ctx context.Context, in *commands.Invocation) error {
		r, err := a.identity.Decide(
			caller.With(ctx, in.Caller),
			in.Arg("request"),
			in.Caller.ID(),
			in.Caller.Address == "",
			approve,
		)
		if err != nil {
			return err
		}
		return in.Emit(map[string]string{"request": r.ID, "state": r.State}, func() string {
			if r.State == identity.RequestDenied {
				if !r.Until.IsZero() {
					return "request " + r.ID + " is denied, and gives the role " + r.Role + " no more\n"
				}
				return "request " + r.ID + " is denied\n"
			}
			return r.User + " has the role " + r.Role + " until " + r.Until.Format(time.RFC3339) + "\n"
		})
	}
}
