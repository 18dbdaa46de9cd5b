package aaa_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// roleTree keeps the roles as the configuration tree does.
type roleTree struct {
	a     *aaa.AAA
	roles map[string]json.RawMessage
}

func (r *roleTree) store(ctx context.Context, name string, role json.RawMessage) error {
	next := map[string]json.RawMessage{}
	for n, one := range r.roles {
		next[n] = one
	}
	if next[name] = role; role == nil {
		delete(next, name)
	}
	var list []json.RawMessage
	for _, one := range next {
		list = append(list, one)
	}
	content, err := json.Marshal(map[string]any{"role": list})
	if err == nil {
		err = r.a.Check(ctx, aaa.RolesNode, content)
	}
	if err == nil {
		r.roles = next
		err = r.a.Apply(ctx, aaa.RolesNode, content)
	}
	return err
}

// runCommand runs a command of access control as an administrator; args are those of the command, in their order.
func (l *lab) runCommand(name string, options map[string]string, args ...string) (string, error) {
	l.t.Helper()
	c, ok := commands.Find(l.RealmCommands(), name)
	if !ok {
		l.t.Fatalf("there is no %s", name)
	}
	out := &strings.Builder{}
	in := &commands.Invocation{
		Name:    name,
		Caller:  caller.Caller{User: "admin", Domain: "sdn", Roles: []string{"admin"}},
		Args:    map[string][]string{},
		Options: options,
		Stdout:  out,
	}
	for i, a := range c.Arguments {
		if i < len(args) {
			in.Args[a.Name] = []string{args[i]}
		}
	}
	err := c.Run(ctx, in)
	return out.String(), err
}

// A shipped role is off until it is installed, and cannot end while somebody has it.
func TestRolesAreInstalled(t *testing.T) {
	tree := &roleTree{roles: map[string]json.RawMessage{}}
	l := open(t, defaultINI, func(o *aaa.Options) { o.StoreRole = tree.store })
	tree.a = l.AAA
	l.user("bob", "user")
	l.want(201, "POST", "/auth/v1/roles", adm, `{"name":"viewer","domainid":"sdn"}`)
	ann := l.user("ann", "viewer")
	l.want(200, "POST", "/x", "ann:password1", "")
	if _, err := l.runCommand("access:role-install", nil, "viewer"); err != nil {
		t.Fatal(err)
	}
	l.want(200, "GET", "/x", "ann:password1", "")
	l.want(401, "POST", "/x", "ann:password1", "")
	l.want(200, "POST", "/x", "bob:password1", "")
	l.want(204, "POST", "/auth/password", "ann:password1", `{"current":"password1","password":"password2"}`)
	x, err := l.Explain(ctx, "ann", "POST", "/x")
	if err != nil || x.Allowed || !strings.Contains(x.Reason, "no line of the roles viewer permits POST /x") {
		t.Errorf("%+v, %v", x, err)
	}
	x, err = l.Explain(ctx, "ann", "GET", "/x")
	if err != nil || !x.Allowed || x.Role != "role viewer, line 10: GET /**" {
		t.Errorf("%+v, %v", x, err)
	}
	if out, err := l.runCommand("access:explain", nil, "ann", "GET", "/x"); err != nil || !strings.Contains(out, "role viewer, line 10") {
		t.Errorf("%s, %v", out, err)
	}
	out, err := l.runCommand("access:roles", nil)
	if err != nil || !strings.Contains(out, "installed") || !strings.Contains(out, "available") {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := l.runCommand("access:role-uninstall", nil, "viewer"); fault.KindOf(err) != fault.InUse || !strings.Contains(err.Error(), ann) {
		t.Errorf("a role that somebody has ends: %v", err)
	}
	l.want(401, "POST", "/x", "ann:password2", "")
	l.want(204, "DELETE", "/auth/v1/users/"+ann, adm, "")
	if _, err := l.runCommand("access:role-uninstall", nil, "viewer"); err != nil {
		t.Error(err)
	}
	l.want(404, "GET", "/auth/v1/roles/viewer@sdn", adm, "")
	for what, kind := range map[string]fault.Kind{
		`{"role":[{"name":"admin"}]}`: fault.Invalid,
		`{"role":[{"name":"r","permit":[{"number":1,"resource":"/a//b","action":["get"]}]}]}`:                             fault.Invalid,
		`{"role":[{"name":"r","permit":[{"number":1,"resource":"/rests/data/x","action":["get"],"name":["a"]}]}]}`:        fault.Invalid,
		`{"role":[{"name":"r","permit":[{"number":1,"resource":"/rests/operations/x","action":["get"],"name":["[a"]}]}]}`: fault.Invalid,
	} {
		if err := l.Check(ctx, aaa.RolesNode, json.RawMessage(what)); fault.KindOf(err) != kind {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// While the roles cannot be read, only administrators may do something.
func TestRolesThatCannotBeRead(t *testing.T) {
	l := open(t, defaultINI)
	l.Unreadable(aaa.RolesNode)
	l.want(401, "GET", "/x", "user:user", "")
	l.want(200, "GET", "/x", adm, "")
}
