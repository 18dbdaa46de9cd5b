package shell

import (
	"context"
	"fmt"
	"strings"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/commands"
)

func (t *table) addUser() commands.Command {
	role := text("roleName", "a role that the user gets", "rname")
	role.Complete = t.roleNames
	return commands.Command{
		Name: "aaa:add-user", Summary: "add a user",
		Help: "Adds a user; the password is asked for. With --roleName the user gets that role at once: without a role nobody can log in.\n" +
			"aaa:add-user --name bob --roleName user --email bob@example.org",
		Options: []commands.Option{
			needed(text("name", "the user's name", "userName")), role,
			text("userDescription", "what the user is for", "desc"), text("email", "an e-mail address", "userEmail"), t.domainOption(),
		},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			u := identity.User{
				Name: in.Option("name"), Domain: domainOf(in), Enabled: true,
				Profile: identity.Profile{Description: in.Option("userDescription"), Email: in.Option("email")},
			}
			roleID := ""
			if r := in.Option("roleName"); r != "" {
				roleID = id(r, u.Domain)
				if _, err := t.Identity.Role(ctx, roleID); err != nil {
					return err // before anything is done
				}
			}
			password, err := in.Prompt(ctx, "Enter new user password: ", false)
			if err != nil {
				return err
			}
			if err := t.Identity.CreateUser(ctx, u, password); err != nil {
				return err
			}
			sentence := fmt.Sprintf("User %s has been created, User Id is %s", u.Name, u.ID())
			if roleID != "" {
				if err := t.Identity.CreateGrant(ctx, identity.Grant{User: u.ID(), Role: roleID, Domain: u.Domain}); err != nil {
					return fmt.Errorf("%s but not granted to role %s: %w", sentence, in.Option("roleName"), err)
				}
				sentence += " and granted to role " + in.Option("roleName")
			}
			return said(in, "userid", u.ID(), sentence)
		},
	}
}

func (t *table) getUsers() commands.Command {
	return commands.Command{
		Name: "aaa:get-users", Summary: "list the names of users", Safe: true,
		Run: func(ctx context.Context, in *commands.Invocation) error {
			list, err := t.Identity.Users(ctx, identity.Page{})
			if err != nil {
				return err
			}
			out := &commands.Table{Columns: []commands.Column{
				{Title: "User", Key: "name"}, {Title: "Id", Key: "userid"}, {Title: "Enabled", Key: "enabled"}, {Title: "Description", Key: "description"},
			}}
			var names []string
			for _, u := range list {
				out.Add(u.Name, u.ID(), u.Enabled, u.Description)
				names = append(names, u.Name)
			}
			return in.Emit(out, heading("Users: ", names))
		},
	}
}

// heading is how the lists look as text: a heading, then one indented name a line.
func heading(title string, names []string) func() string {
	return func() string { return strings.Join(append([]string{title}, names...), "\n  ") + "\n" }
}

func (t *table) removeUser() commands.Command {
	name := needed(text("name", "the user's name", "userName"))
	name.Complete = t.userNames
	return commands.Command{
		Name: "aaa:remove-user", Summary: "remove a user with its grants and logins",
		Options: []commands.Option{name},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			uid := id(in.Option("name"), identity.SDN)
			if err := t.Identity.DeleteUser(ctx, uid); err != nil {
				return err
			}
			return said(in, "userid", uid, fmt.Sprintf("User %s has been deleted.", in.Option("name")))
		},
	}
}

func (t *table) changePassword() commands.Command {
	user := needed(text("user", "the user's name", "userName"))
	user.Complete = t.userNames
	return commands.Command{
		Name: "aaa:change-user-pwd", Summary: "change a user's password",
		Help:    "Asks for the current and the new password. All logins and tokens of the user end.\naaa:change-user-pwd -user bob",
		Options: []commands.Option{user},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			uid := id(in.Option("user"), identity.SDN)
			current, err := in.Prompt(ctx, "Enter current password: ", false)
			if err != nil {
				return err
			}
			if _, err := t.Login(ctx, uid, current, in.Caller.Address); err != nil {
				return err
			}
			fresh, err := in.Prompt(ctx, "Enter new password: ", false)
			if err != nil {
				return err
			}
			if _, err := t.Identity.UpdateUser(ctx, uid, identity.UserChange{Password: &fresh}); err != nil {
				return err
			}
			return said(in, "userid", uid, in.Option("user")+"'s password has been changed")
		},
	}
}
