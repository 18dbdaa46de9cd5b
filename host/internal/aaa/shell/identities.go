package shell

import (
	"context"
	"fmt"
	"strings"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/commands"
)

func (t *table) addUser(ctx context.Context, in *commands.Invocation) error {
	u := identity.User{
		Name:    in.Option("name"),
		Domain:  domainOf(in),
		Enabled: true,
	}
	profile := map[string]string{}
	for _, f := range u.Fields() {
		profile[f.Name] = in.Option(f.Option)
	}
	u.Profile.Set(profile)
	roleID := ""
	if r := in.Option("roleName"); r != "" {
		roleID = fullID(r, u.Domain)
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
		err := t.Identity.CreateGrant(
			ctx,
			identity.Grant{
				User:   u.ID(),
				Role:   roleID,
				Domain: u.Domain,
			},
		)
		if err != nil {
			return fmt.Errorf(
				"%s but not granted to role %s: %w",
				sentence,
				in.Option("roleName"),
				err,
			)
		}
		sentence += " and granted to role " + in.Option("roleName")
	}
	return emitResult(in, "userid", u.ID(), sentence)
}

func (t *table) changePassword(ctx context.Context, in *commands.Invocation) error {
	uid := fullID(in.Option("user"), identity.SDN)
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
	change := identity.UserChange{
		Password: &fresh,
		Own:      true,
	}
	if _, err := t.Identity.UpdateUser(ctx, uid, change); err != nil {
		return err
	}
	return emitResult(in, "userid", uid, in.Option("user")+"'s password has been changed")
}

func (t *table) addRole(ctx context.Context, in *commands.Invocation) error {
	r := identity.Role{
		Name:        in.Option("name"),
		Domain:      domainOf(in),
		Description: in.Option("desc"),
	}
	if err := t.Identity.CreateRole(ctx, r); err != nil {
		return err
	}
	return emitResult(
		in,
		"roleid",
		r.ID(),
		fmt.Sprintf("Role %s has been created, Role Id is %s", r.Name, r.ID()),
	)
}

func (t *table) addDomain(ctx context.Context, in *commands.Invocation) error {
	d := identity.Domain{
		Name:        in.Option("name"),
		Description: in.Option("desc"),
		Enabled:     true,
	}
	if err := t.Identity.CreateDomain(ctx, d); err != nil {
		return err
	}
	return emitResult(
		in,
		"domainid",
		d.Name,
		fmt.Sprintf("Domain %s has been created, Domain Id is %s", d.Name, d.Name),
	)
}

func (t *table) grantCommand(
	verb, summary string,
	do func(context.Context, identity.Grant) error,
	sentence string,
) commands.Command {
	user := requiredOption(textOption("userName", "the user's name", "uname"))
	user.Complete = t.userThings().completeNames
	role := requiredOption(textOption("roleName", "the role's name", "rname"))
	role.Complete = t.roleThings().completeNames
	return commands.Command{
		Name: "aaa:" + verb + "-grant", Summary: summary,
		Help:    "aaa:" + verb + "-grant --userName bob --domainName sdn --roleName admin",
		Options: []commands.Option{user, t.domainOption(), role},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			domain := domainOf(in)
			g := identity.Grant{
				User:   fullID(in.Option("userName"), domain),
				Role:   fullID(in.Option("roleName"), domain),
				Domain: domain,
			}
			if err := do(ctx, g); err != nil {
				return err
			}
			return emitResult(in, "grantid", g.ID(), strings.Replace(sentence, "%s", g.ID(), 1))
		},
	}
}
