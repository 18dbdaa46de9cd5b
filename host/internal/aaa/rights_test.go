package aaa_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/right"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// rightTree keeps the rights as the configuration tree does.
type rightTree struct {
	a       *aaa.AAA
	entries map[string]json.RawMessage // by path
}

func (r *rightTree) store(ctx context.Context, path string, value json.RawMessage) error {
	next := map[string]json.RawMessage{}
	for p, one := range r.entries {
		next[p] = one
	}
	if next[path] = value; value == nil {
		delete(next, path)
	}
	content := map[string][]json.RawMessage{}
	for p, one := range next {
		list, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "=")
		content[list] = append(content[list], one)
	}
	text, err := json.Marshal(content)
	if err == nil {
		err = r.a.Check(ctx, aaa.RightsNode, text)
	}
	if err == nil {
		r.entries = next
		err = r.a.Apply(ctx, aaa.RightsNode, text)
	}
	return err
}

// withRights is access control in which /act addresses an operation that acts on ports, and sw1 is switch 1.
func withRights(t *testing.T) *lab {
	tree := &rightTree{entries: map[string]json.RawMessage{}}
	l := open(t, defaultINI, func(o *aaa.Options) {
		o.StoreRight = tree.store
		o.ActsOn = func(p reqpath.Path) bool { return p.Is("act") }
		o.Touched = func(_ context.Context, _ reqpath.Path, input []byte) (all []right.Resource, err error) {
			return all, json.Unmarshal(input, &all)
		}
		o.Ports = func(_ context.Context, node string, ports []string) ([]right.Resource, error) {
			if node != "sw1" {
				return nil, fault.New(fault.NotFound, "there is no switch %s", node)
			}
			if len(ports) == 0 {
				return []right.Resource{{Node: "1"}}, nil
			}
			return []right.Resource{{Node: "1", Port: 1}, {Node: "1", Port: 2}, {Node: "1", Port: 7}}, nil
		}
	})
	tree.a = l.AAA
	return l
}

func (l *lab) mustRun(name string, options map[string]string, args ...string) string {
	l.t.Helper()
	out, err := l.runCommand(name, options, args...)
	must(l.t, err)
	return out
}

// Whoever has a right may call what says what it acts on, manage the own account, and do nothing else; nobody else notices.
func TestRightsConfineTheirHolders(t *testing.T) {
	l := withRights(t)
	ann := l.user("ann", "user")
	l.user("bob", "user")
	l.want(200, "GET", "/x", "ann:password1", "")
	l.mustRun("access:set-add", map[string]string{"switch": "sw1", "ports": "1-2,port7", "vlans": "100-120"}, "bench 3")
	l.mustRun("access:right-add", nil, "ann", "bench 3", "change")
	for _, x := range []struct {
		status             int
		method, path, body string
	}{
		{403, "GET", "/x", ""},
		{403, "POST", "/x", ""},
		{403, "GET", "/act", ""},
		{200, "POST", "/act", ""},
		{403, "GET", "/web/places/x", ""},
		{403, "GET", "/web/events", ""},
		{204, "POST", "/auth/password", `{"current":"password1","password":"password2"}`},
	} {
		l.want(x.status, x.method, x.path, "ann:password1", x.body)
	}
	l.want(200, "GET", "/x", "bob:password1", "")
	l.want(200, "GET", "/x", adm, "")
	_, err := l.runCommand("access:right-remove", nil, "ann", "bench 3")
	if fault.KindOf(err) != fault.InUse || !strings.Contains(err.Error(), "--force") {
		t.Errorf("the last right ends: %v", err)
	}
	_, err = l.runCommand("access:set-remove", nil, "bench 3")
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "no set") {
		t.Errorf("a set that a right names ends: %v", err)
	}
	l.want(204, "DELETE", "/auth/v1/users/"+ann, adm, "")
	l.mustRun("access:right-remove", nil, "ann", "bench 3")
	l.mustRun("access:set-remove", nil, "bench 3")
}

func TestCommandsOfRights(t *testing.T) {
	l := withRights(t)
	l.user("ann", "user")
	for _, x := range []struct {
		name    string
		options map[string]string
		args    string
		want    string
	}{
		{"access:set-add", map[string]string{"switch": "sw1", "ports": "port1"}, "a", "a: switch 1 ports 1-2,7"},
		{"access:set-add", map[string]string{"vlans": "100-120,200"}, "a", "VLANs 100-120,200"},
		{"access:set-remove", map[string]string{"vlans": "200"}, "a", "ports 1-2,7; VLANs 100-120\n"},
		{"access:set-add", map[string]string{"switch": "sw1"}, "b", "b: switch 1\n"},
		{"access:set-remove", map[string]string{"switch": "sw1"}, "b", "b: nothing"},
		{"access:sets", nil, "", "1-2,7"},
		{"access:right-add", nil, "ann a view", "user:ann@sdn may view"},
		{"access:right-add", nil, "role:students a change", "role:students may change"},
		{"access:rights", nil, "", "role:students"},
	} {
		out := l.mustRun(x.name, x.options, strings.Fields(x.args)...)
		if !strings.Contains(out, x.want) {
			t.Errorf("%s %s: %s, want %s", x.name, x.args, out, x.want)
		}
	}
	for _, x := range []struct {
		name    string
		options map[string]string
		args    string
		kind    fault.Kind
	}{
		{"access:set-add", map[string]string{"switch": "sw9"}, "a", fault.NotFound},
		{"access:set-add", map[string]string{"ports": "1"}, "a", fault.Missing},
		{"access:set-add", map[string]string{"vlans": "0"}, "a", fault.Invalid},
		{"access:set-remove", nil, "absent", fault.NotFound},
		{"access:set-remove", map[string]string{"vlans": "5"}, "a", fault.NotFound},
		{"access:right-add", nil, "ann absent view", fault.Invalid},
		{"access:right-add", nil, "nobody a view", fault.NotFound},
		{"access:right-add", nil, "role:admin a view", fault.Invalid},
		{"access:right-remove", nil, "bob a", fault.NotFound},
	} {
		_, err := l.runCommand(x.name, x.options, strings.Fields(x.args)...)
		if fault.KindOf(err) != x.kind || err == nil {
			t.Errorf("%s %v %s: %v", x.name, x.options, x.args, err)
		}
	}
}

// access:explain says why not, and which right would permit it.
func TestRightsAreExplained(t *testing.T) {
	l := withRights(t)
	l.user("ann", "user")
	l.mustRun("access:set-add", map[string]string{"switch": "sw1", "ports": "1", "vlans": "100"}, "mine")
	l.mustRun("access:set-add", map[string]string{"switch": "sw1", "vlans": "200"}, "other")
	l.mustRun("access:right-add", nil, "ann", "mine", "change")
	for _, x := range []struct {
		user, method, path, input string
		allowed                   bool
		want                      string
	}{
		{"ann", "GET", "/x", "", false, "no right by port permits it"},
		{"ann", "POST", "/act", "", true, `what it acts on must be in one of the sets "mine" (change), with change`},
		{"ann", "POST", "/act", `[{"Node":"1","Port":1,"VLAN":100}]`, true, "mine"},
		{"ann", "POST", "/act", `[{"Node":"1","Port":1,"VLAN":200}]`, false, "a right to change permits it with the sets other"},
		{"ann", "POST", "/act", `[{"Node":"2"}]`, false, "no set has it"},
		{"user", "POST", "/act", "", true, ""},
	} {
		got, err := l.ExplainInput(ctx, x.user, x.method, x.path, x.input)
		if err != nil || got.Allowed != x.allowed || !strings.Contains(got.Rights, x.want) || x.want == "" && got.Rights != "" {
			t.Errorf("%+v: %+v, %v", x, got, err)
		}
	}
	out := l.mustRun("access:explain", nil, "ann", "GET", "/x")
	if !strings.Contains(out, "rights by port") {
		t.Error(out)
	}
}

// While the rights cannot be read, only administrators may do something.
func TestRightsThatCannotBeRead(t *testing.T) {
	l := open(t, defaultINI)
	l.Unreadable(aaa.RightsNode)
	l.want(403, "GET", "/x", "user:user", "")
	l.want(200, "GET", "/x", adm, "")
	who := caller.With(ctx, caller.Caller{User: "user", Domain: "sdn", Roles: []string{"user"}})
	if _, err := l.ScopeOf(who); fault.KindOf(err) != fault.Denied {
		t.Errorf("an operation is carried out: %v", err)
	}
	if scope, err := l.ScopeOf(aaa.AsPlugin(ctx, "lab")); scope != nil || err != nil {
		t.Errorf("a plugin that acts for nobody: %v, %v", scope, err)
	}
}
