// Package shell is the table of the aaa: commands that manage identities. They
// do inside the controller what etc/idmtool does from outside; the certificate
// commands of the same scope are the keystore's.
package shell

import (
	"context"
	"strings"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Options are what the commands need; all are required.
type Options struct {
	Identity *identity.Service
	// Login verifies a password, throttled as all logins are.
	Login func(ctx context.Context, user, password, address string) (caller.Caller, error)
}

type table struct{ Options }

// Commands returns the twelve commands of identities.
func Commands(o Options) []commands.Command {
	t := &table{o}
	users, roles, domains := t.users(), t.roles(), t.domains()
	getDomains := domains.get("list domains; asks for an administrator's credentials", t.admin)
	list := []commands.Command{
		t.addUser(roles), users.get("list the names of users", nil), users.remove("remove a user with its grants and logins"), t.changePassword(users),
		t.addRole(), roles.get("list roles", nil), roles.remove("remove a role, also from the users who hold it"),
		t.addDomain(), getDomains, domains.remove("remove a domain with its users, roles and grants"),
		t.grant("add", "give a user a role in a domain", t.Identity.CreateGrant, "Grant has been created, Grant id is %s"),
		t.grant("remove", "take a role in a domain from a user", t.Identity.DeleteGrant, "Grant has been deleted."),
	}
	for i := range list {
		run := list[i].Run
		// Whoever typed the command is who the audit names.
		list[i].Run = func(ctx context.Context, in *commands.Invocation) error {
			return run(caller.With(ctx, in.Caller), in)
		}
	}
	return list
}

// id makes an id of a name that may be one already.
func id(name, domain string) string {
	if strings.Contains(name, "@") {
		return name
	}
	return name + "@" + domain
}

// domainOf is the option --domainName.
func domainOf(in *commands.Invocation) string {
	if d := in.Option("domainName"); d != "" {
		return d
	}
	return identity.SDN
}

func text(name, help string, aliases ...string) commands.Option {
	return commands.Option{Name: name, Aliases: aliases, Help: help}
}

func needed(o commands.Option) commands.Option {
	o.Required = true
	return o
}

func (t *table) domainOption() commands.Option {
	o := text("domainName", "the domain", "dname")
	o.Default, o.Complete = identity.SDN, t.domains().names
	return o
}

// said prints what was done, or a member for programs.
func said(in *commands.Invocation, member, value, sentence string) error {
	return in.Emit(map[string]string{member: value}, func() string { return sentence + "\n" })
}

// admin asks for an administrator's credentials where somebody can be asked;
// elsewhere the session's own role counts.
func (t *table) admin(ctx context.Context, in *commands.Invocation) error {
	user, err := in.Prompt(ctx, "Enter Username: ", true)
	if err != nil {
		if fault.KindOf(err) == fault.Unavailable && in.Caller.HasRole(identity.AdminRole) {
			return nil
		}
		return err
	}
	password, err := in.Prompt(ctx, "Enter Password: ", false)
	if err != nil {
		return err
	}
	c, err := t.Login(ctx, user, password, in.Caller.Address)
	if err != nil {
		return err
	}
	if !c.HasRole(identity.AdminRole) {
		return fault.New(fault.Denied, "this needs a user who holds role %s", identity.AdminRole)
	}
	return nil
}
