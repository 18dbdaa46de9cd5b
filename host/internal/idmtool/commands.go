package idmtool

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"ctl.internal/internal/nearest"
)

const domain = "sdn"

type command struct {
	name string
	args []string
	help string
	run  func(ctx context.Context, t *tool, args []string) error
}

func (c *command) usage() string {
	s := c.name
	for _, a := range c.args {
		s += " <" + a + ">"
	}
	return s
}

func commands() []command {
	return []command{
		{"list-users", nil, "list all users", list("users")},
		{"add-user", []string{"name"}, "add a user; asks for the new password twice", addUser},
		{"change-password", []string{"userid"}, "change a user's password; asks for the new one twice", changePassword},
		{"change-own-password", nil, "change the password of <user> itself; asks for the new one twice", changeOwnPassword},
		{"delete-user", []string{"userid"}, "delete a user", remove("delete_user", "users")},
		{"list-domains", nil, "list all domains", list("domains")},
		{"list-roles", nil, "list all roles", list("roles")},
		{"add-role", []string{"name"}, "add a role", addRole},
		{"delete-role", []string{"roleid"}, "delete a role", remove("delete_role", "roles")},
		{"add-grant", []string{"userid", "roleid"}, "give a user a role", addGrant},
		{"get-grants", []string{"userid"}, "list the roles of a user", getGrants},
		{"delete-grant", []string{"userid", "roleid"}, "take a role from a user", deleteGrant},
	}
}

func commandOf(name string) *command {
	for _, c := range commands() {
		if c.name == name {
			return &c
		}
	}
	return nil
}

func unknownCommand(name string) error {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return fmt.Errorf("unknown command %s%s; known are: %s", name, nearest.Hint(name, names), strings.Join(names, ", "))
}

const usageLine = "usage: idmtool [-h] [--target-host <host>] [-k] <user> <command> ..."

func help() string {
	var b strings.Builder
	fmt.Fprintf(&b, `%s

Manages users, roles and grants. <user> is the account that calls the
controller; its password is asked for, or read from the input when that is no
terminal.

  -h, --help            show this
  --target-host <host>  host, host:port or URL of the controller
  -k, --insecure        do not verify the certificate of an https controller

commands:
`, usageLine)
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-34s %s\n", c.usage(), c.help)
	}
	return b.String()
}

func list(kind string) func(context.Context, *tool, []string) error {
	return func(ctx context.Context, t *tool, _ []string) error {
		t.say("list_" + kind)
		return t.send(ctx, http.MethodGet, "auth/v1/"+kind, nil)
	}
}

func (t *tool) say(line string) { fmt.Fprintln(t.env.Stdout, line) }

func addUser(ctx context.Context, t *tool, args []string) error {
	password, err := t.askNew("add_user")
	if err != nil {
		return err
	}
	t.say("add_user(" + t.user + ")")
	return t.send(ctx, http.MethodPost, "auth/v1/users", map[string]string{
		"name": args[0], "userid": args[0] + "@" + domain, "password": password, "description": "", "email": "", "domainid": domain,
	})
}

func changeOwnPassword(ctx context.Context, t *tool, _ []string) error {
	password, err := t.askNew("change_own_password")
	if err != nil {
		return err
	}
	t.say("change_own_password(" + t.user + ")")
	return t.send(ctx, http.MethodPost, "auth/password", map[string]string{"current": t.password, "password": password})
}

func changePassword(ctx context.Context, t *tool, args []string) error {
	password, err := t.askNew("change_password")
	if err != nil {
		return err
	}
	t.say("change_password(" + t.user + ")")
	return t.send(ctx, http.MethodPut, "auth/v1/users/"+id(args[0]), map[string]string{"password": password})
}

func remove(name, kind string) func(context.Context, *tool, []string) error {
	return func(ctx context.Context, t *tool, args []string) error {
		t.say(name + "(" + args[0] + ")")
		return t.send(ctx, http.MethodDelete, "auth/v1/"+kind+"/"+id(args[0]), nil)
	}
}

func addRole(ctx context.Context, t *tool, args []string) error {
	t.say("add_role(" + args[0] + ")")
	return t.send(ctx, http.MethodPost, "auth/v1/roles", map[string]string{
		"name": args[0], "roleid": args[0] + "@" + domain, "description": "", "domainid": domain,
	})
}

func grants(user string) string { return "auth/v1/domains/" + domain + "/users/" + id(user) + "/roles" }

func addGrant(ctx context.Context, t *tool, args []string) error {
	t.say("add_grant(userid=" + args[0] + ",roleid=" + args[1] + ")")
	return t.send(ctx, http.MethodPost, grants(args[0]), map[string]string{
		"userid": args[0], "roleid": args[1], "domainid": domain, "grantid": args[0] + "@" + args[1] + "@" + domain,
	})
}

func getGrants(ctx context.Context, t *tool, args []string) error {
	t.say("get_grants(" + args[0] + ")")
	return t.send(ctx, http.MethodGet, grants(args[0]), nil)
}

func deleteGrant(ctx context.Context, t *tool, args []string) error {
	path := grants(args[0]) + "/" + id(args[1])
	t.say(t.base + path)
	t.say("delete_grant(userid=" + args[0] + ",roleid=" + args[1] + ")")
	return t.send(ctx, http.MethodDelete, path, nil)
}

// id is an id as it is written in a url.
func id(s string) string { return url.PathEscape(s) }
