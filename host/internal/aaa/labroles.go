package aaa

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/labrole"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// permittedByRoles asks the roles that confine about a request of a user who is known.
func (a *AAA) permittedByRoles(q *rules.Request) bool {
	_, ok := a.askRoles(q)
	return ok
}

// askRoles is labrole.Set.Decide for a request.
func (a *AAA) askRoles(q *rules.Request) (by string, permits bool) {
	if !q.Known {
		return "", true
	}
	if a.roles.Failed() && !slices.Contains(q.Caller.Roles, adminRole) {
		return "the roles of " + RolesNode + " cannot be read, so only role admin may do something", false
	}
	set := a.roles.Now()
	if q.Plugin || !a.confines(set, q.Caller.Roles) {
		return "", true
	}
	asked := a.canonical(q.HTTP.Method, q.Path)
	asked.Alone = q.Alone
	return set.Decide(q.Caller.Roles, asked)
}

// confines is labrole.Set.Confines with the roles that the controller has.
func (a *AAA) confines(set *labrole.Set, roles []string) bool {
	return set.Confines(roles, a.identity.HasRole)
}

func (a *AAA) canonical(method string, p reqpath.Path) labrole.Asked {
	asked := labrole.Asked{
		Method: method,
		Path:   p,
	}
	if a.o.Canonical != nil {
		asked.Path, asked.ReadOnly = a.o.Canonical(p)
	}
	return asked
}

// explainRoles says what the roles that confine decide, if the rules and policies permit a request.
func (a *AAA) explainRoles(x *Explanation, q *rules.Request) {
	if x.Verdict != rules.Pass.String() {
		return
	}
	by, ok := a.askRoles(q)
	if x.Role = by; !ok {
		x.Verdict, x.Reason = rules.Denied.String(), by
	}
}

// PermitsInput reports whether the caller of ctx may have an operation carried out with an input that names something. Access
// control has permitted the operation itself by then.
func (a *AAA) PermitsInput(ctx context.Context, operation string, names func() []string) error {
	who, known := caller.From(ctx)
	set := a.roles.Now()
	if !known || IsPlugin(ctx) || !a.confines(set, who.Roles) {
		return nil
	}
	p, err := reqpath.ParseString(operation)
	if err != nil {
		return err
	}
	named := names()
	if set.PermitsNames(who.Roles, a.canonical(http.MethodPost, p), named) {
		return nil
	}
	return fault.New(
		fault.Denied,
		"the roles of user %s do not permit this for %s: access:explain shows their lines",
		who.User,
		strings.Join(named, ", "),
	)
}

// Administers reports whether the caller of ctx may call an operation that is for administrators: one has the role admin, or
// a role that names the operation, for what the input names.
func (a *AAA) Administers(ctx context.Context, operation, module, name string, names []string) bool {
	who, known := caller.From(ctx)
	if !known || slices.Contains(who.Roles, adminRole) {
		return known
	}
	p, err := reqpath.ParseString(operation)
	return err == nil && a.namedByRole(who.Roles, http.MethodPost, p, names, module, name)
}

// namedByRole reports whether a line of a role names a module or node, and permits a request for it.
func (a *AAA) namedByRole(
	roles []string,
	method string,
	p reqpath.Path,
	names []string,
	module, name string,
) bool {
	set := a.roles.Now()
	if len(set.Roles()) == 0 || a.roles.Failed() {
		return false
	}
	return set.Named(roles, a.canonical(method, p), names, func(pattern string) bool {
		return namesNode(pattern, module, name)
	})
}

type forceKey struct{}

// checkRoles refuses roles that are invalid, and the end of a role that a user has: without it the user would be confined no
// more. Who has a role in another realm is not known here, so where there are such realms only access:role-uninstall --force ends one.
func (a *AAA) checkRoles(ctx context.Context, after json.RawMessage) error {
	next, err := labrole.Compile(after)
	if err != nil {
		return err
	}
	for _, name := range a.roles.Now().Without(next) {
		holders, err := a.identity.Holders(ctx, name)
		if err != nil {
			return err
		}
		if len(holders) > 0 {
			return fault.At(
				fault.InUse,
				RolesNode+"/role="+name,
				"%s still have the role %s and would be confined no more; take it from them first",
				strings.Join(holders, ", "),
				name,
			)
		}
		outside := a.authn.OutsideRealms()
		if forced, _ := ctx.Value(forceKey{}).(bool); len(outside) > 0 && !forced {
			return fault.At(
				fault.InUse,
				RolesNode+"/role="+name,
				"users of the realms %s may have the role %s, which cannot be counted here, and could be confined no more; if none has it, or that is wanted: access:role-uninstall %s --force",
				strings.Join(outside, ", "),
				name,
				name,
			)
		}
	}
	return nil
}

// roleCommands are access:roles, access:role-install and access:role-uninstall.
func (a *AAA) roleCommands() []commands.Command {
	name := commands.Argument{
		Name:     "role",
		Help:     "name of the role",
		Required: true,
	}
	return []commands.Command{
		{
			Name:    "access:roles",
			Summary: "show the roles that confine their users: those that are installed, with their lines, and those that can be",
			Safe:    true,
			Run:     a.rolesCommand,
			Help:    "Whoever has only such roles may do what one of their lines permits, and nothing else.",
		},
		{
			Name:      "access:role-install",
			Summary:   "put a shipped role into force",
			Run:       a.installRoleCommand,
			Arguments: []commands.Argument{name},
			Options: []commands.Option{{
				Name: "names",
				Help: "of driver-tester: the features and plugins, with commas between them, * for any text",
			}},
			Help: "access:role-install viewer\naccess:role-install driver-tester --names ctl-my-driver,my-driver\n" +
				"aaa:add-grant then gives it to users. Users with another role of this controller, such as admin or user, keep what that one gives; " +
				"users of other realms without any role that aaa:get-roles shows may do nothing from then on.",
		},
		{
			Name:      "access:role-uninstall",
			Summary:   "end a role that confines",
			Run:       a.uninstallRoleCommand,
			Arguments: []commands.Argument{name},
			Options: []commands.Option{{
				Name:  "force",
				Short: "f",
				Help:  "although users of other realms, who cannot be counted here, may have the role",
				Type:  commands.Bool,
			}},
			Help: "It is refused while a user of this controller has the role, and without --force where etc/sec.ini has other realms.",
		},
	}
}

func (a *AAA) rolesCommand(_ context.Context, in *commands.Invocation) error {
	t := &commands.Table{
		Empty: "No roles",
		Columns: []commands.Column{
			{Title: "Role", Key: "role"},
			{Title: "State", Key: "state"},
			{Title: "Line", Key: "line", Right: true},
			{Title: "Permits", Key: "permits"},
		},
	}
	add := func(r labrole.Role, state string) {
		for _, p := range r.Permits {
			t.Add(r.Name, state, p.Number, p.String())
		}
		if len(r.Permits) == 0 {
			t.Add(r.Name, state, "", "nothing")
		}
	}
	installed := a.roles.Now().Roles()
	for _, r := range installed {
		add(r, "installed")
	}
	for _, r := range labrole.Shipped() {
		if !slices.ContainsFunc(installed, func(one labrole.Role) bool { return one.Name == r.Name }) {
			add(r, "available")
		}
	}
	return in.Emit(t, nil)
}

func (a *AAA) installRoleCommand(ctx context.Context, in *commands.Invocation) error {
	names := strings.FieldsFunc(in.Option("names"), func(r rune) bool { return r == ',' || r == ' ' })
	r, err := labrole.Install(in.Arg("role"), names)
	if err != nil {
		return err
	}
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	ctx = caller.With(ctx, in.Caller)
	if err := a.o.StoreRole(ctx, r.Name, value); err != nil {
		return err
	}
	err = a.identity.CreateRole(ctx, identity.Role{
		Name:        r.Name,
		Domain:      identity.SDN,
		Description: r.Description,
	})
	if err != nil && fault.KindOf(err) != fault.Exists {
		return err
	}
	return in.Emit(map[string]string{"installed": r.Name}, func() string {
		return "the role " + r.Name + " is in force; aaa:add-grant gives it to users\n"
	})
}

func (a *AAA) uninstallRoleCommand(ctx context.Context, in *commands.Invocation) error {
	name := in.Arg("role")
	installed := a.roles.Now().Roles()
	if !slices.ContainsFunc(installed, func(r labrole.Role) bool { return r.Name == name }) {
		return fault.New(fault.NotFound, "the role %s is not installed", name)
	}
	ctx = context.WithValue(caller.With(ctx, in.Caller), forceKey{}, in.Flag("force"))
	if err := a.o.StoreRole(ctx, name, nil); err != nil {
		return err
	}
	err := a.identity.DeleteRole(ctx, name+"@"+identity.SDN) // nobody has it
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	return in.Emit(map[string]string{"uninstalled": name}, func() string {
		return "the role " + name + " is not in force any more\n"
	})
}
