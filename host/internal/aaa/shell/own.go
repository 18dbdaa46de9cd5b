package shell

import (
	"context"

	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// OwnCommands are the commands by which users manage their own account; change verifies the present
// password and sets another.
func OwnCommands(change func(ctx context.Context, user, current, fresh, address string) error) []commands.Command {
	return []commands.Command{{
		Name: "aaa:change-own-pwd", Summary: "change your own password",
		Help: "Asks for the present password and twice for the new one. All your logins and tokens end.",
		Run: func(ctx context.Context, in *commands.Invocation) error {
			if in.Caller.Address == "" {
				return fault.New(fault.Unsupported, "over this socket nobody logs in; name an account with aaa:change-user-pwd -user NAME")
			}
			var answers [3]string
			for i, text := range []string{"Enter current password: ", "Enter new password: ", "Re-enter new password: "} {
				var err error
				if answers[i], err = in.Prompt(ctx, text, false); err != nil {
					return err
				}
			}
			if answers[1] != answers[2] {
				return fault.New(fault.Invalid, "the two new passwords are not the same; nothing was changed")
			}
			user := in.Caller.User + "@" + in.Caller.Domain
			if err := change(caller.With(ctx, in.Caller), user, answers[0], answers[1], in.Caller.Address); err != nil {
				return err
			}
			return said(in, "userid", user, "your password has been changed")
		},
	}}
}
