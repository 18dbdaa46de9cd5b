package broker_test

import (
	"encoding/json"
	"testing"

	"ctl.internal/host/internal/aaa/broker"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/sdk/fault"
)

func TestAllows(t *testing.T) {
	admin, user := []string{"admin", "user"}, []string{"user"}
	star := []broker.Policy{{Service: broker.RestConf, Resource: "*", Role: "admin"}}
	for _, c := range []struct {
		name   string
		list   []broker.Policy
		method string
		path   string
		roles  []string
		want   bool
	}{
		{"no policies", nil, "GET", "/restconf/config/x", user, true},
		{"role held", star, "GET", "/restconf/config/x", admin, true},
		{"role not held", star, "GET", "/restconf/config/x", user, false},
		{"the newer tree as well", star, "PUT", "/rests/data/x", user, false},
		{"operational data", star, "GET", "/restconf/operational/x", user, false},
		{"not data", star, "POST", "/restconf/operations/x", user, true},
		{"another service", []broker.Policy{{Service: "Other", Role: "admin"}}, "GET", "/rests/data/x", user, true},
		{"no policy for this resource", []broker.Policy{{Service: broker.RestConf, Resource: "/y/**", Role: "user"}}, "GET", "/rests/data/x", user, false},
		{"a policy for this resource", []broker.Policy{{Service: broker.RestConf, Resource: "/x/**", Role: "user"}}, "GET", "/rests/data/x/z", user, true},
		{"reading only", []broker.Policy{{Service: broker.RestConf, Action: "read", Role: "user"}}, "GET", "/rests/data/x", user, true},
		{"reading only, written", []broker.Policy{{Service: broker.RestConf, Action: "read", Role: "user"}}, "PUT", "/rests/data/x", user, false},
	} {
		var e broker.Engine
		e.Use(compile(t, c.list...))
		p, err := reqpath.ParseString(c.path)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Allows(c.method, p, c.roles); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		e.Deny()
		if p.Under("rests") && e.Allows(c.method, p, admin) {
			t.Errorf("%s: allowed while the policies cannot be read", c.name)
		}
	}
}

func TestCompileAndCheck(t *testing.T) {
	admins := [][]string{{"admin", "user"}}
	rules := func(role string) broker.Rules {
		return compile(t, broker.Policy{Service: "RestConfService", Resource: "*", Role: role})
	}
	if err := rules("nobody").Check(admins); fault.KindOf(err) != fault.InUse {
		t.Errorf("locking out: %v", err)
	}
	if err := rules("admin").Check(admins); err != nil {
		t.Error(err)
	}
	if _, err := broker.Compile([]byte(`{"policies":[{"service":"x","resource":"/a//b"}]}`)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a bad resource: %v", err)
	}
	if _, err := broker.Compile([]byte(`{`)); err == nil {
		t.Error("half a document was read")
	}
	if list, err := broker.Compile(nil); list != nil || err != nil {
		t.Error(list, err)
	}
}

func compile(t *testing.T, list ...broker.Policy) broker.Rules {
	t.Helper()
	content, err := json.Marshal(map[string]any{"policies": list})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := broker.Compile(content)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}
