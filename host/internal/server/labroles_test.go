package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/labrole"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// installRoles puts shipped roles, and one that may write one tree, into force.
func installRoles(t *testing.T, s *Server) {
	t.Helper()
	var all struct {
		Roles []labrole.Role `json:"role"`
	}
	for _, r := range labrole.Shipped() {
		var names []string
		if r.Name == "driver-tester" {
			names = []string{"mine", "mine-*"}
		}
		r, err := labrole.Install(r.Name, names)
		if err != nil {
			t.Fatal(err)
		}
		all.Roles = append(all.Roles, r)
	}
	all.Roles = append(all.Roles, labrole.Role{Name: "writer", Permits: []labrole.Permit{{
		Number:   1,
		Resource: "/rests/data/bier-topology:bier-network-topology/bier-topology=mine",
		Actions:  []string{"get", "put", "patch", "post", "delete"},
	}, {
		Number:   2, // what it is made of
		Resource: "/rests/data/network-topology:network-topology/topology=mine",
		Actions:  []string{"get"},
	}}})
	content, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.aaa.Apply(t.Context(), aaa.RolesNode, content); err != nil {
		t.Fatal(err)
	}
}

func as(t *testing.T, roles ...string) (context.Context, caller.Caller) {
	who := caller.Caller{User: "ann", Domain: "sdn", Roles: roles, Address: "127.0.0.1:1"}
	return caller.With(t.Context(), who), who
}

// A role that is installed changes no answer for users with another role, whatever address of whatever is there they ask for.
func TestARoleThatIsInstalledChangesNoOtherAnswer(t *testing.T) {
	c, all := things(t)
	s := serverWith(t, c, "[urls]\n/auth/v1/** = authcBasic, roles[admin]\n/rests/data/aaa*/** = authcBasic, roles[admin]\n/** = authcBasic, dynamicAuthorization\n")
	methods := []string{"GET", "POST", "PUT", "DELETE"}
	paths := slices.Concat(all...)
	own := []string{"/auth/password", "/web/me"}
	paths = append(paths, "/", "/auth/v1/users", "/rests/streams/json/data-change/running/bier-topology:bier-network-topology", "/anything/else")
	paths = append(paths, own...)
	if err := s.aaa.Identity().CreateRole(t.Context(), identity.Role{Name: "ops", Domain: identity.SDN}); err != nil {
		t.Fatal(err)
	}
	answers := func(of ...[]string) map[string]bool {
		out := map[string]bool{}
		for _, roles := range of {
			ctx, who := as(t, roles...)
			for _, path := range paths {
				for _, method := range methods {
					out[fmt.Sprint(roles, method, path)] = s.aaa.Allows(ctx, who, method, path) == nil
				}
			}
		}
		return out
	}
	others := [][]string{{"admin"}, {"user"}, {"ops"}, {"user", "viewer"}, {"viewer", "ops"}, {"user", "stranger"}}
	strangers := [][]string{nil, {"stranger"}} // of other realms, and no role of the controller
	before, allowed := answers(others...), 0
	for what, ok := range answers(strangers...) {
		if of := withoutRoles(what, strangers); ok != before[fmt.Sprint([]string{"ops"})+of] { // who has no part in the rules and policies
			t.Errorf("no role is installed, and %s: %v", what, ok)
		} else if ok {
			allowed++
		}
	}
	installRoles(t, s)
	after := answers(others...)
	for what, ok := range answers(strangers...) {
		mine := slices.ContainsFunc(own, func(path string) bool { return strings.HasSuffix(what, path) })
		if ok != mine {
			t.Errorf("a user without a role of the controller, %s: %v", what, ok)
		}
	}
	for what, want := range before {
		if after[what] != want {
			t.Errorf("%s: %v before, %v after", what, want, after[what])
		}
	}
	if len(before) < 5_000 || allowed < 5_000 {
		t.Errorf("only %d answers were compared, %d of strangers", len(before), allowed)
	}
}

// withoutRoles is what was asked, without the roles.
func withoutRoles(what string, roles [][]string) string {
	for _, one := range roles {
		if rest, ok := strings.CutPrefix(what, fmt.Sprint(one)); ok {
			return rest
		}
	}
	return what
}

// Who has only roles that confine may do what their lines permit, by no address more.
func TestRolesConfine(t *testing.T) {
	c, all := things(t)
	s := serverWith(t, c, "[urls]\n/auth/v1/** = authcBasic, roles[admin]\n/** = authcBasic, dynamicAuthorization\n")
	installRoles(t, s)
	may := func(role, method, path string) bool {
		ctx, who := as(t, strings.Split(role, " ")...)
		return s.aaa.Allows(ctx, who, method, path) == nil
	}
	operations := 0
	for _, addresses := range all {
		for _, path := range addresses {
			if !may("viewer", "GET", path) {
				t.Errorf("viewer may not GET %s", path)
			}
			for _, method := range []string{"PUT", "PATCH", "DELETE"} {
				if may("viewer", method, path) || may("operator", method, path) || may("auditor viewer", method, path) {
					t.Errorf("a role without writes may %s %s", method, path)
				}
			}
			at := s.addressOf(path)
			reads := at.Module != "" && strings.Contains(path, "operations/") && s.readsOnly(at.Module, at.Node)
			if got := may("viewer", "POST", path); got != reads {
				t.Errorf("viewer may POST %s: %v, want %v", path, got, reads)
			}
			if strings.Contains(path, "operations/") && at.Module != "" {
				operations++
				if !may("operator", "POST", path) {
					t.Errorf("operator may not POST %s", path)
				}
			}
		}
	}
	if operations == 0 {
		t.Error("no operation was asked for")
	}
	const tree = "bier-topology:bier-network-topology"
	for path, want := range map[string]bool{
		"/rests/data/" + tree + "/bier-topology=mine":                       true,
		"/rests/data/" + tree + "/bier-topology=mine/bier-domain=1":         true,
		"/restconf/config/" + tree + "/bier-topology/mine/bier-domain/1":    true,
		"/rests/ds/ietf-datastores:running/" + tree + "/bier-topology=mine": true,
		"/rests/data/" + tree + "/bier-topology=other":                      false,
		"/rests/data/" + tree: false,
		"/rests/data":         false,
		"/restconf/config/" + tree + "/bier-topology/other":           false,
		"/rests/data/network-topology:network-topology/topology=mine": false,
		"/rests/operations/bier-topology-api:configure-domain":        false,
		"/auth/v1/users": false,
		"/auth/password": true,
		"/web/places/t":  true,
		"/rests/data/aaa:http-authorization/policies": false,
		"/rests/data/aaa-roles:roles/role=writer":     false,
		"/anything/else": false,
	} {
		ctx, who := as(t, "writer")
		if got := s.aaa.Allows(ctx, who, "PUT", path) == nil; got != want {
			t.Errorf("writer may PUT %s: %v, want %v", path, got, want)
		}
	}
}

// What a module keeps for administrators is open to who has a role that names it, for what the role names.
func TestRolesOpenOperationsByName(t *testing.T) {
	c, _ := things(t)
	s := serverWith(t, c, "[urls]\n/** = authcBasic, dynamicAuthorization\n")
	installRoles(t, s)
	ops := s.systemOperations()
	called := false
	call := func(role, rpc, input string) error {
		called = false
		h := s.forAdministrators(handlerOf(&called))
		if ops[systemModule+":"+rpc] == nil {
			t.Fatalf("there is no %s", rpc)
		}
		ctx, _ := as(t, strings.Fields(role)...)
		if err := s.permitsInput(ctx, systemModule, rpc, []byte(input)); err != nil {
			return err
		}
		_, err := h.Invoke(ctx, requestOf(systemModule, rpc, input))
		return err
	}
	for _, x := range []struct {
		role, rpc, input string
		may              bool
	}{
		{"admin", "install-feature", `{"name": ["any"]}`, true},
		{"user", "install-feature", `{"name": ["mine"]}`, false},
		{"", "install-feature", `{"name": ["mine"]}`, false},
		{"driver-tester", "install-feature", `{"name": ["mine"]}`, true},
		{"driver-tester", "install-feature", `{"name": ["mine-2", "mine"]}`, true},
		{"driver-tester", "install-feature", `{"name": ["mine", "other"]}`, false},
		{"driver-tester", "install-feature", `{}`, false},
		{"user driver-tester", "install-feature", `{"name": ["mine"]}`, true},
		{"user driver-tester", "install-feature", `{"name": ["other"]}`, false},
		{"driver-tester", "restart-plugin", `{"name": "mine"}`, true},
		{"driver-tester", "restart-plugin", `{"name": "other"}`, false},
		{"driver-tester", "stop-plugin", `{"name": "mine"}`, false},
		{"driver-tester", "show", `{"command": "audit:show"}`, false},
		{"auditor", "show", `{"command": "audit:show --since 24h"}`, true},
		{"auditor", "show", `{"command": "audit:verify /etc/passwd"}`, false},
		{"auditor", "show", `{"command": "config:show"}`, false},
		{"auditor", "get-log", `{}`, true},
		{"viewer", "get-log", `{}`, false},
		{"operator", "save-snapshot", `{}`, false},
	} {
		err := call(x.role, x.rpc, x.input)
		if x.may != (err == nil) || x.may != called || err != nil && fault.KindOf(err) != fault.Denied {
			t.Errorf("%s %s %s: %v, called %v", x.role, x.rpc, x.input, err, called)
		}
	}
	if _, err := labrole.Install("driver-tester", nil); fault.KindOf(err) != fault.Missing {
		t.Errorf("a role that names nothing: %v", err)
	}
	x, err := s.aaa.Explain(t.Context(), "user", http.MethodGet, "/rests/data")
	if err != nil || x.Role != "" {
		t.Errorf("explained as %+v, %v", x, err)
	}
}

func handlerOf(called *bool) operations.Handler {
	return operations.HandlerFunc(func(context.Context, *operations.Request) (any, error) {
		*called = true
		return nil, nil
	})
}

func requestOf(module, rpc, input string) *operations.Request {
	return &operations.Request{Module: module, RPC: rpc, Input: []byte(input)}
}
