package aaa_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/realm"
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

// rolesByName is a realm whose users have each their own roles.
type rolesByName map[string][]string

func (r rolesByName) Realm(context.Context, realm.Config) (realm.Realm, error) { return r, nil }

func (r rolesByName) Epoch(string) uint64 { return 0 }

func (r rolesByName) Close() error { return nil }

func (r rolesByName) Authenticate(_ context.Context, c realm.Credentials) (realm.Result, error) {
	roles, known := r[c.User]
	if !known {
		return realm.Result{Outcome: realm.Unknown}, nil
	}
	return realm.Result{Outcome: realm.Authenticated, Principal: c.User, Roles: roles}, nil
}

// Users of other realms are confined as those of this controller are: what another realm calls a role, and is none here, lifts
// nothing. With no role installed nothing changes for them.
func TestRolesConfineUsersOfOtherRealms(t *testing.T) {
	users := rolesByName{
		"none":     nil,
		"stranger": {"offline_access"},
		"viewer":   {"viewer"},
		"both":     {"viewer", "offline_access", ""},
		"besides":  {"viewer", "ops"},
		"user":     {"user", "offline_access"},
		"ops":      {"ops"},
		"admin":    {"admin"},
	}
	tree := &roleTree{roles: map[string]json.RawMessage{}}
	l := withDirectory(t, func(o *aaa.Options) { o.Realms, o.StoreRole = users, tree.store })
	tree.a = l.AAA
	l.want(201, "POST", "/auth/v1/roles", adm, `{"name":"ops","domainid":"sdn"}`)
	input := func(name string) error {
		c := caller.Caller{User: name, Domain: "ldapRealm", Roles: users[name]}
		return l.PermitsInput(caller.With(ctx, c), "/rests/operations/x:y", func() []string { return []string{"z"} })
	}
	for name := range users {
		l.want(200, "GET", "/x", name+":pw", "")
		l.want(200, "POST", "/x", name+":pw", "")
		if err := input(name); err != nil {
			t.Errorf("no role is installed, and %s: %v", name, err)
		}
	}
	_, err := l.runCommand("access:role-install", nil, "viewer")
	must(t, err)
	for name, want := range map[string][2]int{
		"none":     {401, 401},
		"stranger": {401, 401},
		"viewer":   {200, 401},
		"both":     {200, 401},
		"besides":  {200, 200},
		"user":     {200, 200},
		"ops":      {200, 200},
		"admin":    {200, 200},
	} {
		l.want(want[0], "GET", "/x", name+":pw", "")
		l.want(want[1], "POST", "/x", name+":pw", "")
		if err := input(name); (err == nil) != (want[1] == 200) {
			t.Errorf("the input of %s: %v", name, err)
		}
	}
	// A plugin that acts for nobody has no role, and what its grants give.
	plugin := aaa.AsPlugin(ctx, "lab")
	must(t, l.PermitsInput(plugin, "/rests/operations/x:y", func() []string { return []string{"z"} }))
	who, _ := caller.From(plugin)
	if may, _ := l.MayRead(plugin, who, "/rests/data/x:y"); !may {
		t.Error("a plugin that acts for nobody may not read")
	}
	delete(users, "viewer")
	_, err = l.runCommand("access:role-uninstall", nil, "viewer")
	if fault.KindOf(err) != fault.InUse || !strings.Contains(err.Error(), "ldapRealm") || !strings.Contains(err.Error(), "--force") {
		t.Errorf("a role that users of another realm may have ends: %v", err)
	}
	l.want(401, "POST", "/x", "none:pw", "")
	_, err = l.runCommand("access:role-uninstall", map[string]string{"force": "true"}, "viewer")
	must(t, err)
	l.want(200, "POST", "/x", "none:pw", "")
	// What users of this controller have ends by no force.
	_, err = l.runCommand("access:role-install", nil, "viewer")
	must(t, err)
	l.user("vic", "viewer")
	_, err = l.runCommand("access:role-uninstall", map[string]string{"force": "true"}, "viewer")
	if fault.KindOf(err) != fault.InUse {
		t.Errorf("a role that a user has ends: %v", err)
	}
}

// While the roles cannot be read, no line of them opens anything.
func TestRolesThatCannotBeReadOpenNothing(t *testing.T) {
	tree := &roleTree{roles: map[string]json.RawMessage{}}
	l := open(t, defaultINI, func(o *aaa.Options) { o.StoreRole = tree.store })
	tree.a = l.AAA
	must(t, tree.store(ctx, "restarter", json.RawMessage(`{"name":"restarter","permit":[{"number":1,"resource":"/rests/operations/ctl-system:restart-plugin","action":["post"]}]}`)))
	may := func(role string) bool {
		who := caller.With(ctx, caller.Caller{User: "ann", Domain: "sdn", Roles: []string{role}})
		return l.Administers(who, "/rests/operations/ctl-system:restart-plugin", "ctl-system", "restart-plugin", []string{"x"})
	}
	if !may("restarter") || !may("admin") || may("user") {
		t.Fatal("the role does not name the operation")
	}
	l.Unreadable(aaa.RolesNode)
	if may("restarter") || !may("admin") {
		t.Error("a role that cannot be read opens an operation of administrators")
	}
}

// waiting is a store whose engine does not answer: who waits for it gets an error.
type waiting struct {
	datastore.Store
	on bool
}

func (w *waiting) View(ctx context.Context, f func(datastore.Snapshot) error) error {
	if w.on {
		return errors.New("the engine does not answer")
	}
	return w.Store.View(ctx, f)
}

// Who is confined is decided without the engine of the store, however many names another realm gives a user: decisions are made for
// each entry of an answer, and while the store hangs.
func TestWhoIsConfinedWithoutTheStore(t *testing.T) {
	store := &waiting{Store: storetest.New(storetest.Options{})}
	t.Cleanup(func() { store.Close() })
	tree := &roleTree{roles: map[string]json.RawMessage{}}
	l := open(t, defaultINI, func(o *aaa.Options) { o.Store, o.StoreRole = store, tree.store })
	tree.a = l.AAA
	l.want(201, "POST", "/auth/v1/roles", adm, `{"name":"ops","domainid":"sdn"}`)
	_, err := l.runCommand("access:role-install", nil, "viewer")
	must(t, err)
	store.on = true
	for role, want := range map[string]bool{"ops": true, "stranger": false} {
		who := caller.Caller{User: "ann", Domain: "ldapRealm", Roles: []string{"viewer", role}, Address: "127.0.0.1:1"}
		if err := l.Allows(caller.With(ctx, who), who, "POST", "/x"); (err == nil) != want {
			t.Errorf("with the role %s: %v", role, err)
		}
	}
}
