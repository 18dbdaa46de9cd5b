package shell

import (
	"context"
	"fmt"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/commands"
)

func (t *table) addRole() commands.Command {
	return commands.Command{
		Name: "aaa:add-role", Summary: "add a role",
		Help:    "aaa:add-role --name operator --desc \"runs the lab\"",
		Options: []commands.Option{needed(text("name", "the role's name", "roleName")), text("desc", "what the role is for", "roleDescription"), t.domainOption()},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			r := identity.Role{Name: in.Option("name"), Domain: domainOf(in), Description: in.Option("desc")}
			if err := t.Identity.CreateRole(ctx, r); err != nil {
				return err
			}
			return said(in, "roleid", r.ID(), fmt.Sprintf("Role %s has been created, Role Id is %s", r.Name, r.ID()))
		},
	}
}

func (t *table) getRoles() commands.Command {
	return commands.Command{
		Name: "aaa:get-roles", Summary: "list roles", Safe: true,
		Run: func(ctx context.Context, in *commands.Invocation) error {
			list, err := t.Identity.Roles(ctx, identity.Page{})
			if err != nil {
				return err
			}
			out := &commands.Table{Columns: []commands.Column{
				{Title: "Role", Key: "name"}, {Title: "Id", Key: "roleid"}, {Title: "Description", Key: "description"},
			}}
			var names []string
			for _, r := range list {
				out.Add(r.Name, r.ID(), r.Description)
				names = append(names, r.Name)
			}
			return in.Emit(out, heading("Roles: ", names))
		},
	}
}

func (t *table) removeRole() commands.Command {
	name := needed(text("name", "the role's name", "roleName"))
	name.Complete = t.roleNames
	return commands.Command{
		Name: "aaa:remove-role", Summary: "remove a role, also from the users who hold it",
		Options: []commands.Option{name},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			rid := id(in.Option("name"), identity.SDN)
			if err := t.Identity.DeleteRole(ctx, rid); err != nil {
				return err
			}
			return said(in, "roleid", rid, fmt.Sprintf("Role %s has been deleted.", in.Option("name")))
		},
	}
}
