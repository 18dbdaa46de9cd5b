package idmtool

import (
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
	call func(t *tool, args []string) request
}

// request is what a command sends.
type request struct {
	said         string // printed before
	method, path string
	body         map[string]string
	newPassword  string // name of the request in whose body a new password goes, which is asked for; empty = none
}

func (c *command) usage() string {
	s := c.name
	for _, a := range c.args {
		s += " <" + a + ">"
	}
	return s
}

func allCommands() []command {
	return []command{
		{"list-users", nil, "list all users", listRequest("users")},
		{"add-user", []string{"name"}, "add a user; asks for the new password twice", func(t *tool, args []string) request {
			return request{"add_user(" + t.user + ")", http.MethodPost, "auth/v1/users", map[string]string{
				"name":        args[0],
				"userid":      args[0] + "@" + domain,
				"description": "",
				"email":       "",
				"domainid":    domain,
			}, "add_user"}
		}},
		{"change-password", []string{"userid"}, "change a user's password; asks for the new one twice", func(t *tool, args []string) request {
			return request{"change_password(" + t.user + ")", http.MethodPut, "auth/v1/users/" + escapeID(args[0]), map[string]string{}, "change_password"}
		}},
		{"change-own-password", nil, "change the password of <user> itself; asks for the new one twice", func(t *tool, _ []string) request {
			return request{"change_own_password(" + t.user + ")", http.MethodPost, "auth/password",
				map[string]string{"current": t.password}, "change_own_password"}
		}},
		{"delete-user", []string{"userid"}, "delete a user", removeRequest("delete_user", "users")},
		{"list-domains", nil, "list all domains", listRequest("domains")},
		{"list-roles", nil, "list all roles", listRequest("roles")},
		{"add-role", []string{"name"}, "add a role", func(_ *tool, args []string) request {
			return request{
				said:   "add_role(" + args[0] + ")",
				method: http.MethodPost,
				path:   "auth/v1/roles",
				body: map[string]string{
					"name":        args[0],
					"roleid":      args[0] + "@" + domain,
					"description": "",
					"domainid":    domain,
				},
			}
		}},
		{"delete-role", []string{"roleid"}, "delete a role", removeRequest("delete_role", "roles")},
		{"add-grant", []string{"userid", "roleid"}, "give a user a role", func(_ *tool, args []string) request {
			said := "add_grant(userid=" + args[0] + ",roleid=" + args[1] + ")"
			return request{
				said:   said,
				method: http.MethodPost,
				path:   grantsPath(args[0]),
				body: map[string]string{
					"userid":   args[0],
					"roleid":   args[1],
					"domainid": domain,
					"grantid":  args[0] + "@" + args[1] + "@" + domain,
				},
			}
		}},
		{"get-grants", []string{"userid"}, "list the roles of a user", func(_ *tool, args []string) request {
			return request{
				said:   "get_grants(" + args[0] + ")",
				method: http.MethodGet,
				path:   grantsPath(args[0]),
			}
		}},
		{"delete-grant", []string{"userid", "roleid"}, "take a role from a user", func(t *tool, args []string) request {
			path := grantsPath(args[0]) + "/" + escapeID(args[1])
			said := t.base + path + "\ndelete_grant(userid=" + args[0] + ",roleid=" + args[1] + ")"
			return request{
				said:   said,
				method: http.MethodDelete,
				path:   path,
			}
		}},
	}
}

func listRequest(kind string) func(*tool, []string) request {
	return func(*tool, []string) request {
		return request{
			said:   "list_" + kind,
			method: http.MethodGet,
			path:   "auth/v1/" + kind,
		}
	}
}

func removeRequest(name, kind string) func(*tool, []string) request {
	return func(_ *tool, args []string) request {
		return request{
			said:   name + "(" + args[0] + ")",
			method: http.MethodDelete,
			path:   "auth/v1/" + kind + "/" + escapeID(args[0]),
		}
	}
}

func grantsPath(user string) string {
	return "auth/v1/domains/" + domain + "/users/" + escapeID(user) + "/roles"
}

// escapeID is an id as it is written in a url.
func escapeID(s string) string { return url.PathEscape(s) }

func commandOf(name string) *command {
	for _, c := range allCommands() {
		if c.name == name {
			return &c
		}
	}
	return nil
}

func unknownCommand(name string) error {
	var names []string
	for _, c := range allCommands() {
		names = append(names, c.name)
	}
	return fmt.Errorf(
		"unknown command %s%s; known are: %s",
		name,
		nearest.Hint(name, names),
		strings.Join(names, ", "),
	)
}

const usageLine = "usage: idmtool [-h] [--target-host <host>] [-k] <user> <command> ..."

func helpText() string {
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
	for _, c := range allCommands() {
		fmt.Fprintf(&b, "  %-34s %s\n", c.usage(), c.help)
	}
	return b.String()
}
