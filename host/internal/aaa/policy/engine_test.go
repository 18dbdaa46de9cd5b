package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"ctl.internal/host/internal/aaa/pattern"
	"ctl.internal/host/internal/aaa/policy"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/fault"
)

func path(t testing.TB, raw string) reqpath.Path {
	t.Helper()
	p, err := reqpath.ParseString(raw)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func permit(resource, role string, actions ...string) policy.Policy {
	return policy.Policy{Resource: resource, Permissions: []policy.Permission{{Role: role, Actions: actions}}}
}

func engine(t testing.TB, list ...policy.Policy) *policy.Engine {
	t.Helper()
	e := &policy.Engine{}
	if err := e.Set(list); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestAllows(t *testing.T) {
	e := engine(t,
		permit("/a/b", "x", "get"),
		permit("/a/**", "y", "GET", "put"),
		permit("/*/c/**", "z", "delete"),
		policy.Policy{Resource: "/d/**", Permissions: []policy.Permission{{Role: "x", Actions: []string{"get"}}, {Role: "y", Actions: []string{"post"}}}},
		policy.Policy{Resource: "/none/**"},
		permit("/a/b", "late", "get"),
	)
	for _, c := range []struct {
		method, path string
		role         string
		want         bool
	}{
		{"GET", "/a/b", "x", true}, {"HEAD", "/a/b", "x", true}, {"PUT", "/a/b", "x", false}, {"GET", "/a/b", "y", false},
		{"GET", "/a/b", "late", false}, {"GET", "/a/b/", "x", true}, {"GET", "/%61/b", "x", true},
		{"GET", "/a", "y", true}, {"GET", "/a/c/x", "y", true}, {"DELETE", "/a/c/x", "z", false},
		{"DELETE", "/q/c/x", "z", true}, {"DELETE", "/q/c/x", "x", false},
		{"GET", "/d", "x", true}, {"POST", "/d", "x", false}, {"POST", "/d/e", "y", true},
		{"GET", "/none", "x", false}, {"OPTIONS", "/none", "x", true}, {"TRACE", "/d", "x", false},
		{"TRACE", "/free", "x", true}, {"DELETE", "/free", "", true}, {"GET", "/", "", true},
	} {
		if got := e.Allows(c.method, path(t, c.path), []string{c.role}); got != c.want {
			t.Errorf("%s %s as %s: %v", c.method, c.path, c.role, got)
		}
	}
}

func TestParentOfGuardedDataIsGuarded(t *testing.T) {
	e := engine(t,
		permit("/rests/data/m:open/**", "user", "get", "put"),
		permit("/rests/data/m:c/secret/**", "admin", "get", "put"),
		permit("/rests/data/m:open/x", "admin", "get"), // dead: the first goes before it
		permit("/rests/data/s*/deep/x", "admin", "get"),
		permit("/restconf/config/**", "user", "get"),
		permit("/restconf/config/x/**", "admin", "get"), // dead
		permit("/rests/data/m:l=5/**", "admin", "get"),
	)
	for _, c := range []struct {
		method, path, role string
		want               bool
	}{
		{"GET", "/rests/data", "user", false}, {"GET", "/rests/data", "admin", false}, {"GET", "/rests/data/m:c", "user", false},
		{"GET", "/rests/data/m:c", "admin", true}, {"PATCH", "/rests/data/m:c", "admin", false}, {"GET", "/rests/data/m:c/other", "user", true},
		{"GET", "/rests/data/m:open", "user", true}, {"GET", "/rests/data/m:d", "user", true},
		{"GET", "/rests/data/sx", "user", false}, {"GET", "/rests/data/sx/deep", "user", false}, {"GET", "/rests/data/sx/deep/y", "user", true},
		{"GET", "/rests/data/m:l", "user", false}, {"GET", "/rests/data/m:l=6", "user", true}, {"GET", "/rests/data/m:l", "admin", true},
		{"GET", "/restconf/config", "user", true}, {"OPTIONS", "/rests/data", "user", true}, {"GET", "/rests", "user", true},
	} {
		if got := e.Allows(c.method, path(t, c.path), []string{c.role}); got != c.want {
			t.Errorf("%s %s as %s: %v", c.method, c.path, c.role, got)
		}
	}
	both := engine(t, permit("/rests/data/a/**", "x", "get"), permit("/rests/data/b/**", "y", "get"))
	if !both.Allows("GET", path(t, "/rests/data"), []string{"x", "y"}) {
		t.Error("who holds all roles may not read all")
	}
}

func TestWithoutContentEverythingIsDenied(t *testing.T) {
	var e policy.Engine
	if e.Allows("GET", path(t, "/x"), []string{"admin"}) {
		t.Error("policies that were never read allow something")
	}
	if err := e.Set(nil); err != nil || !e.Allows("GET", path(t, "/x"), nil) {
		t.Errorf("an empty list denies, %v", err)
	}
	if e.Fail(); e.Allows("GET", path(t, "/x"), nil) {
		t.Error("policies that cannot be read allow something")
	}
}

func TestBadPoliciesAreNamedAndChangeNothing(t *testing.T) {
	e := engine(t, permit("/x", "a", "get"))
	err := e.Set([]policy.Policy{permit("/ok", "a", "get"), permit("/a//b", "a", "get"), permit("/c", "a", "fetch")})
	if x, ok, c := e.First(path(t, "/x")), e.First(path(t, "/ok")), e.First(path(t, "/c")); fault.KindOf(err) != fault.Invalid || x == "" || ok+c != "" {
		t.Errorf("%v, policies %q, %q, %q", err, x, ok, c)
	}
}

// TestIndexAgreesWithTheList compares the index with trying one pattern after
// the other, on random policies and paths.
func TestIndexAgreesWithTheList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"a", "b", "c", "*", "**", "a*"}
	for range 300 {
		var list []policy.Policy
		var compiled []pattern.Pattern
		for i := range 12 {
			text := ""
			for range 1 + r.IntN(4) {
				text += "/" + words[r.IntN(len(words))]
			}
			p, err := pattern.Compile(text)
			if err != nil {
				t.Fatal(err)
			}
			compiled = append(compiled, p)
			list = append(list, permit(text, fmt.Sprint(i), "get"))
		}
		e := engine(t, list...)
		for range 20 {
			raw := ""
			for range r.IntN(5) {
				raw += "/" + words[r.IntN(3)]
			}
			if raw == "" {
				raw = "/"
			}
			want := -1
			for i, p := range compiled {
				if p.Match(path(t, raw).Segments()) {
					want = i
					break
				}
			}
			for i := range list {
				if got := e.Allows("GET", path(t, raw), []string{fmt.Sprint(i)}); got != (want < 0 || i == want) {
					t.Fatalf("%s with %v: role %d gets %v, the first match is %d", raw, list, i, got, want)
				}
			}
		}
	}
}

func TestCheckRefusesToLockAdministratorsOut(t *testing.T) {
	admins := [][]string{{"admin", "user"}}
	for name, c := range map[string]struct {
		list []policy.Policy
		kind fault.Kind
		ok   bool
	}{
		"none":              {nil, 0, true},
		"admin keeps all":   {[]policy.Policy{permit("/**", "admin", "get", "put")}, 0, true},
		"another role":      {[]policy.Policy{permit("/**", "dog", "get", "put")}, fault.InUse, false},
		"reading only":      {[]policy.Policy{permit("/**", "admin", "get")}, fault.InUse, false},
		"one tree is open":  {[]policy.Policy{permit("/restconf/**", "dog", "put")}, 0, true},
		"first match saves": {[]policy.Policy{permit("/rests/data/aaa:http-authorization/**", "admin", "put"), permit("/**", "dog", "put")}, 0, true},
		"invalid":           {[]policy.Policy{permit("/a;b", "admin", "put")}, fault.Invalid, false},
	} {
		content, err := json.Marshal(map[string]any{"policies": map[string]any{"policies": c.list}})
		if err != nil {
			t.Fatal(err)
		}
		x, err := policy.Compile(content)
		if err == nil {
			err = x.Check(admins, nil)
		}
		if c.ok != (err == nil) || !c.ok && fault.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCompile(t *testing.T) {
	x, err := policy.Compile([]byte(`{"policies":{"policies":[{"resource":"/restconf/modules/**","permissions":[{"role":"admin","actions":["get","post"]}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	var e policy.Engine
	e.Use(x)
	if want := "policy 1, resource /restconf/modules/**, role admin: get post"; e.First(path(t, "/restconf/modules/x")) != want {
		t.Error(e.First(path(t, "/restconf/modules/x")))
	}
	for _, doc := range []string{`{`, `{"x":1}`, `{"policies":{"policies":[{"resource":"/x","colour":1}]}}`, `{"policies":7}`, `{"policies":{"policies":[{"resource":"/a//b"}]}}`} {
		if _, err := policy.Compile([]byte(doc)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", doc, err)
		}
	}
	for _, doc := range []string{``, `{}`, `null`, `{"policies":{}}`} {
		x, err := policy.Compile([]byte(doc))
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		if e.Use(x); e.First(path(t, "/restconf/modules/x")) != "" || !e.Allows("GET", path(t, "/restconf/modules/x"), nil) {
			t.Errorf("%s: %s", doc, e.First(path(t, "/restconf/modules/x")))
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add([]byte(`{"policies":{"policies":[{"resource":"/**"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if x, err := policy.Compile(data); (x == nil) == (err == nil) {
			t.Fatal(x, err)
		}
	})
}

func TestFollowReportsBeforeTheCommitIsAnswered(t *testing.T) {
	inner := storetest.New(storetest.Options{})
	defer inner.Close()
	reported := 0
	s := policy.Follow(inner, "config", []string{"aaa:", "broker:"}, func(_ context.Context, prefix string) {
		if prefix == "aaa:" {
			reported++
		}
	})
	ctx := context.Background()
	for _, c := range []struct {
		op   datastore.Op
		want int
	}{
		{datastore.Put("config", "aaa:http-authorization", nil), 1},
		{datastore.Put("config", "other:x", nil), 1},
		{datastore.Put("operational", "aaa:x", nil), 1},
		{datastore.Delete("config", "aaa:http-authorization"), 2},
		{datastore.DeletePrefix("config", ""), 3},
	} {
		if _, err := s.Commit(ctx, datastore.Txn{Ops: []datastore.Op{c.op}}); err != nil {
			t.Fatal(err)
		}
		if reported != c.want {
			t.Errorf("%+v: reported %d times, want %d", c.op, reported, c.want)
		}
	}
	refused := datastore.Txn{Compares: []datastore.Compare{{Namespace: "config", Key: "x", Revision: 99}}, Ops: []datastore.Op{datastore.Put("config", "aaa:", nil)}}
	if _, err := s.Commit(ctx, refused); err == nil || reported != 3 {
		t.Error("reported of a commit that was refused")
	}
}

func prefixes(n int) []policy.Policy {
	list := make([]policy.Policy, n)
	for i := range list {
		list[i] = permit(fmt.Sprintf("/restconf/config/lab:nodes/node=%d/**", i), "user", "get")
	}
	return list
}

func BenchmarkDecision(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := engine(b, prefixes(n)...)
			segs, roles := path(b, fmt.Sprintf("/restconf/config/lab:nodes/node=%d/port/7", n-1)), []string{"admin", "user"}
			b.ReportAllocs()
			for b.Loop() {
				if !e.Allows("GET", segs, roles) {
					b.Fatal("denied")
				}
			}
		})
	}
}
