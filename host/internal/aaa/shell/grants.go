package shell

import (
	"context"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/commands"
)

func (t *table) grantOptions() []commands.Option {
	user := needed(text("userName", "the user's name", "uname"))
	user.Complete = t.userNames
	role := needed(text("roleName", "the role's name", "rname"))
	role.Complete = t.roleNames
	return []commands.Option{user, t.domainOption(), role}
}

func grantOf(in *commands.Invocation) identity.Grant {
	d := domainOf(in)
	return identity.Grant{User: id(in.Option("userName"), d), Role: id(in.Option("roleName"), d), Domain: d}
}

func (t *table) addGrant() commands.Command {
	return commands.Command{
		Name: "aaa:add-grant", Summary: "give a user a role in a domain",
		Help:    "aaa:add-grant --userName bob --domainName sdn --roleName admin",
		Options: t.grantOptions(),
		Run: func(ctx context.Context, in *commands.Invocation) error {
			g := grantOf(in)
			if err := t.Identity.CreateGrant(ctx, g); err != nil {
				return err
			}
			return said(in, "grantid", g.ID(), "Grant has been created, Grant id is "+g.ID())
		},
	}
}

func (t *table) removeGrant() commands.Command {
	return commands.Command{
		Name: "aaa:remove-grant", Summary: "take a role in a domain from a user",
		Options: t.grantOptions(),
		Run: func(ctx context.Context, in *commands.Invocation) error {
			g := grantOf(in)
			if err := t.Identity.DeleteGrant(ctx, g); err != nil {
				return err
			}
			return said(in, "grantid", g.ID(), "Grant has been deleted.")
		},
	}
}
