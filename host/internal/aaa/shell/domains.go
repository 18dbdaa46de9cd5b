package shell

import (
	"context"
	"fmt"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/commands"
)

func (t *table) addDomain() commands.Command {
	return commands.Command{
		Name: "aaa:add-domain", Summary: "add a domain",
		Help:    "Adds a domain, enabled. Only sdn gives rights in this release.",
		Options: []commands.Option{needed(text("name", "the domain's name", "domainName")), text("desc", "what the domain is for", "domainDescription")},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			d := identity.Domain{Name: in.Option("name"), Description: in.Option("desc"), Enabled: true}
			if err := t.Identity.CreateDomain(ctx, d); err != nil {
				return err
			}
			return said(in, "domainid", d.Name, fmt.Sprintf("Domain %s has been created, Domain Id is %s", d.Name, d.Name))
		},
	}
}

func (t *table) getDomains() commands.Command {
	return commands.Command{
		Name: "aaa:get-domains", Summary: "list domains; asks for an administrator's credentials", Safe: true,
		Run: func(ctx context.Context, in *commands.Invocation) error {
			if err := t.admin(ctx, in); err != nil {
				return err
			}
			list, err := t.Identity.Domains(ctx, identity.Page{})
			if err != nil {
				return err
			}
			out := &commands.Table{Columns: []commands.Column{
				{Title: "Domain", Key: "name"}, {Title: "Enabled", Key: "enabled"}, {Title: "Description", Key: "description"},
			}}
			var names []string
			for _, d := range list {
				out.Add(d.Name, d.Enabled, d.Description)
				names = append(names, d.Name)
			}
			return in.Emit(out, heading("Domains: ", names))
		},
	}
}

func (t *table) removeDomain() commands.Command {
	name := needed(text("name", "the domain's name", "domainName"))
	name.Complete = t.domainNames
	return commands.Command{
		Name: "aaa:remove-domain", Summary: "remove a domain with its users, roles and grants",
		Options: []commands.Option{name},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			if err := t.Identity.DeleteDomain(ctx, in.Option("name")); err != nil {
				return err
			}
			return said(in, "domainid", in.Option("name"), fmt.Sprintf("Domain %s has been deleted.", in.Option("name")))
		},
	}
}
