// Package shell is the table of the aaa: commands that manage identities. They
// do inside the controller what etc/idmtool does from outside; the certificate
// commands of the same scope are the keystore's.
package shell

import (
	"cmp"
	"context"
	"slices"
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
	users := t.userThings()
	roles := t.roleThings()
	domains := t.domainThings()
	role := textOption("roleName", "a role that the user gets", "rname")
	role.Complete = roles.completeNames
	user := requiredOption(textOption("user", "the user's name", "userName"))
	user.Complete = users.completeNames
	var profile []commands.Option
	for _, f := range new(identity.Profile).Fields() {
		profile = append(profile, textOption(f.Option, f.Help, f.Alias))
	}
	list := []commands.Command{
		{
			Name:    "aaa:add-user",
			Summary: "add a user",
			Run:     t.addUser,
			Help: "Adds a user; the password is asked for. With --roleName the user gets that role at once: a user without a role cannot log in.\n" +
				"aaa:add-user --name bob --roleName user --email bob@example.org",
			Options: slices.Concat(
				[]commands.Option{requiredOption(textOption("name", "the user's name", "userName")), role},
				profile,
				[]commands.Option{t.domainOption()},
			),
		},
		users.listCommand("list the names of users", nil), users.removeCommand("remove a user with its grants and logins"),
		{
			Name:    "aaa:change-user-pwd",
			Summary: "change a user's password",
			Run:     t.changePassword,
			Options: []commands.Option{user},
			Help:    "Asks for the current and the new password. All logins and tokens of the user end.\naaa:change-user-pwd -user bob",
		},
		{
			Name:    "aaa:add-role",
			Summary: "add a role",
			Run:     t.addRole,
			Help:    "aaa:add-role --name operator --desc \"runs the lab\"",
			Options: []commands.Option{requiredOption(textOption("name", "the role's name", "roleName")), textOption("desc", "what the role is for", "roleDescription"), t.domainOption()},
		},
		roles.listCommand("list roles", nil), roles.removeCommand("remove a role, also from the users who hold it"),
		{
			Name:    "aaa:add-domain",
			Summary: "add a domain",
			Run:     t.addDomain,
			Help:    "Adds a domain, enabled. Only sdn gives rights in this release.",
			Options: []commands.Option{requiredOption(textOption("name", "the domain's name", "domainName")), textOption(
				"desc",
				"what the domain is for",
				"domainDescription",
			)},
		},
		domains.listCommand(
			"list domains; asks for an administrator's credentials",
			t.confirmAdmin,
		), domains.removeCommand("remove a domain with its users, roles and grants"),
		t.grantCommand(
			"add",
			"give a user a role in a domain",
			t.Identity.CreateGrant,
			"Grant has been created, Grant id is %s",
		),
		t.grantCommand(
			"remove",
			"take a role in a domain from a user",
			t.Identity.DeleteGrant,
			"Grant has been deleted.",
		),
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

// fullID makes an id of a name that may be one already.
func fullID(name, domain string) string {
	if strings.Contains(name, "@") {
		return name
	}
	return name + "@" + domain
}

// domainOf is the option --domainName.
func domainOf(in *commands.Invocation) string {
	return cmp.Or(in.Option("domainName"), identity.SDN)
}

func textOption(name, help string, aliases ...string) commands.Option {
	return commands.Option{
		Name:    name,
		Aliases: aliases,
		Help:    help,
	}
}

func requiredOption(o commands.Option) commands.Option {
	o.Required = true
	return o
}

func (t *table) domainOption() commands.Option {
	o := textOption("domainName", "the domain", "dname")
	o.Default, o.Complete = identity.SDN, t.domainThings().completeNames
	return o
}

// emitResult prints what was done, or a member for programs.
func emitResult(in *commands.Invocation, member, value, sentence string) error {
	return in.Emit(map[string]string{member: value}, func() string {
		return sentence + "\n"
	})
}

// confirmAdmin asks for an administrator's credentials where somebody can be asked;
// elsewhere the session's own role counts.
func (t *table) confirmAdmin(ctx context.Context, in *commands.Invocation) error {
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
