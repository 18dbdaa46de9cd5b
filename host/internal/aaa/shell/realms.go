package shell

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/realm"
)

// RealmCommands are the commands about the realms of etc/sec.ini.
func RealmCommands(r *authn.Authenticator) []commands.Command {
	return []commands.Command{
		{
			Name:    "realm:list",
			Summary: "list the realms in the order they are tried",
			Safe:    true,
			Run: func(_ context.Context, in *commands.Invocation) error {
				out := &commands.Table{Columns: []commands.Column{
					{
						Title: "#",
						Key:   "order",
						Right: true,
					}, {
						Title: "Realm",
						Key:   "realm",
					}, {
						Title: "Kind",
						Key:   "kind",
					}, {Title: "Timeout", Key: "timeout"},
				}}
				for i, one := range r.Realms() {
					timeout := "-"
					if one.Outside != nil {
						timeout = one.Wait().String()
					}
					out.Add(i+1, one.Name, one.Kind, timeout)
				}
				return in.Emit(out, nil)
			},
		},
		{
			Name:    "realm:test",
			Summary: "ask every realm whether it knows a user",
			Help: "realm:test alice@example\nAsks for the password. Shows the answer of each realm, also of those after the deciding one.\n" +
				"It creates no session; a wrong password counts as a failed login.\n" +
				"realm:test --token\nAsks for a token of another issuer, which names its user itself.",
			Arguments: []commands.Argument{{
				Name: "user",
				Help: "NAME or NAME@DOMAIN",
			}},
			Options: []commands.Option{{
				Name: "token",
				Help: "ask for a token in place of a password",
				Type: commands.Bool,
			}},
			Run: func(ctx context.Context, in *commands.Invocation) error {
				return testRealms(ctx, in, r)
			},
		},
	}
}

// askRealms asks for the secret and then the realms.
func askRealms(
	ctx context.Context,
	in *commands.Invocation,
	r *authn.Authenticator,
) (answers []authn.Answer, secret string, err error) {
	user, byToken := in.Arg("user"), in.Flag("token")
	if byToken == (user != "") {
		return nil, "", fault.New(
			fault.Invalid,
			"write realm:test NAME to be asked for a password, or realm:test --token, since a token names its user",
		)
	}
	prompt := "Password: "
	if byToken {
		prompt = "Token: "
	}
	if secret, err = in.Prompt(ctx, prompt, false); err != nil {
		return nil, "", err
	}
	from, _ := netip.ParseAddrPort(in.Caller.Address)
	if byToken {
		secret = strings.TrimSpace(secret)
		answers, err = r.ProbeToken(ctx, secret, from)
		return answers, secret, err
	}
	answers, err = r.Probe(ctx, authn.Credentials{
		User:     user,
		Password: secret,
		Address:  from,
	})
	return answers, secret, err
}

func testRealms(ctx context.Context, in *commands.Invocation, r *authn.Authenticator) error {
	answers, secret, err := askRealms(ctx, in, r)
	if err != nil {
		return err
	}
	out := &commands.Table{Columns: []commands.Column{
		{
			Title: "Realm",
			Key:   "realm",
		}, {
			Title: "Answer",
			Key:   "answer",
		}, {
			Title: "User",
			Key:   "user",
		}, {Title: "Roles", Key: "roles"},
		{
			Title: "Reason",
			Key:   "reason",
		}, {Title: "Time", Key: "time"},
	}}
	decided := "no realm"
	for _, a := range answers {
		if decided == "no realm" && a.Result.Outcome == realm.Authenticated {
			decided = a.Realm
		}
		out.Add(a.Realm, outcomes[a.Result.Outcome], a.Result.Principal, commands.List(" ", a.Result.Roles),
			strings.ReplaceAll(a.Result.Reason, secret, "***"), a.Took.Round(time.Millisecond).String())
	}
	if in.Format != "json" {
		defer fmt.Fprintf(in.Stdout, "A login is decided by %s.\n", decided)
	}
	return in.Emit(out, nil)
}

var outcomes = map[realm.Outcome]string{
	realm.Unknown:       "unknown",
	realm.Authenticated: "authenticated",
	realm.Unavailable:   "unavailable",
}

// OwnCommands are the commands by which users manage their own account; change verifies the present
// password and sets another.
func OwnCommands(change func(ctx context.Context, user, current, fresh, address string) error) []commands.Command {
	return []commands.Command{{
		Name:    "aaa:change-own-pwd",
		Summary: "change your own password",
		Help:    "Asks for the current password and twice for the new one. All your logins and tokens end.",
		Run: func(ctx context.Context, in *commands.Invocation) error {
			if in.Caller.Address == "" {
				return fault.New(
					fault.Unsupported,
					"users do not log in over this socket, so there is no current user; name an account with aaa:change-user-pwd -user NAME",
				)
			}
			var answers [3]string
			for i, text := range []string{"Enter current password: ", "Enter new password: ", "Re-enter new password: "} {
				var err error
				if answers[i], err = in.Prompt(ctx, text, false); err != nil {
					return err
				}
			}
			if answers[1] != answers[2] {
				return fault.New(
					fault.Invalid,
					"the two new passwords are not the same; nothing was changed",
				)
			}
			user := in.Caller.User + "@" + in.Caller.Domain
			err := change(
				caller.With(ctx, in.Caller),
				user,
				answers[0],
				answers[1],
				in.Caller.Address,
			)
			if err != nil {
				return err
			}
			return emitResult(in, "userid", user, "your password has been changed")
		},
	}}
}
