package rules_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/host/internal/aaa/secini"
	"ctl.internal/sdk/caller"
)

// world knows one user per Authorization header: its text is the role list.
type world struct{ dynamic rules.Verdict }

func (world) Authenticate(r *rules.Request, s rules.Schemes) (rules.Verdict, bool) {
	h := r.HTTP.Header.Get("Authorization")
	switch {
	case h == "":
		return rules.Unauthenticated, false
	case h == "bad", h == "basic" && s&rules.Basic == 0:
		return rules.Unauthenticated, true
	}
	r.Caller, r.Known = caller.Caller{User: "u", Roles: strings.Split(h, ",")}, true
	return rules.Pass, true
}

func (w world) Dynamic(*rules.Request) rules.Verdict { return w.dynamic }

func compile(t testing.TB, text string) *rules.Set {
	t.Helper()
	f, err := secini.Parse("sec.ini", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := rules.Compile(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func request(t testing.TB, method, target, auth string) *rules.Request {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	if auth != "" {
		r.Header.Set("Authorization", auth)
	}
	p, err := reqpath.Parse(r)
	if err != nil {
		t.Fatal(err)
	}
	return &rules.Request{HTTP: r, Path: p, Peer: netip.MustParseAddrPort("127.0.0.1:40000"), Port: 8181}
}

func TestDecide(t *testing.T) {
	const head = "[roles]\nop = switch:*, vlan:read\n[urls]\n"
	for _, c := range []struct {
		name, urls, method, path, auth string
		want                           rules.Verdict
	}{
		{"anon opens", "/** = anon", "GET", "/x", "", rules.Pass},
		{"default needs a login", "/** = authcBasic", "GET", "/x", "", rules.Unauthenticated},
		{"wrong login", "/** = authcBasic", "GET", "/x", "bad", rules.Unauthenticated},
		{"login", "/** = authcBasic", "GET", "/x", "user", rules.Pass},
		{"no rule needs a login", "/y = anon", "GET", "/x", "", rules.Unauthenticated},
		{"no rule, login", "/y = anon", "GET", "/x", "user", rules.Pass},
		{"first match only", "/auth/v1/** = authcBasic, roles[admin]\n/** = anon", "GET", "/auth/v1/users", "user", rules.Denied},
		{"order counts", "/** = authcBasic\n/auth/v1/** = authcBasic, roles[admin]", "GET", "/auth/v1/users", "user", rules.Pass},
		{"all roles", "/** = authcBasic, roles[a, b]", "GET", "/", "a", rules.Denied},
		{"all roles held", "/** = authcBasic, roles[a, b]", "GET", "/", "b,a", rules.Pass},
		{"any role", "/** = authcBasic, anyRoles[a, b]", "GET", "/", "b", rules.Pass},
		{"none of any", "/** = authcBasic, anyRoles[a, b]", "GET", "/", "c", rules.Denied},
		{"roles alone never pass", "/** = roles[a]", "GET", "/", "a", rules.Unauthenticated},
		{"any role alone never passes", "/** = anyRoles[a]", "GET", "/", "a", rules.Unauthenticated},
		{"perms alone never pass", "/** = perms[\"vlan:read\"]", "GET", "/", "op", rules.Unauthenticated},
		{"rest alone never passes", "/** = rest[vlan]", "BREW", "/", "op", rules.Unauthenticated},
		{"permissive lets nobody have a role", "/** = authcBasic[permissive], anyRoles[a]", "GET", "/", "", rules.Unauthenticated},
		{"all of no roles", "/** = authcBasic, roles[\",\"]", "GET", "/", "a", rules.Pass},
		{"any of no roles", "/** = authcBasic, anyRoles[\",\"]", "GET", "/", "a", rules.Denied},
		{"methods", "/** = authcBasic[PUT, post]", "GET", "/", "", rules.Pass},
		{"methods that need it", "/** = authcBasic[PUT, post]", "POST", "/", "", rules.Unauthenticated},
		{"HEAD is as GET", "/** = authcBasic[GET]", "HEAD", "/", "", rules.Unauthenticated},
		{"permissive without", "/** = authcBasic[permissive]", "GET", "/", "", rules.Pass},
		{"permissive with wrong", "/** = authcBasic[permissive]", "GET", "/", "bad", rules.Unauthenticated},
		{"bearer only", "/** = authcBearer", "GET", "/", "basic", rules.Unauthenticated},
		{"perms", "/** = authcBasic, perms[\"switch:reload:all\"]", "GET", "/", "op", rules.Pass},
		{"perms lacking", "/** = authcBasic, perms[\"vlan:write\"]", "GET", "/", "op", rules.Denied},
		{"rest read", "/** = authcBasic, rest[vlan]", "GET", "/", "op", rules.Pass},
		{"rest write", "/** = authcBasic, rest[vlan]", "DELETE", "/", "op", rules.Denied},
		{"rest odd method", "/** = authcBasic, rest[vlan]", "BREW", "/", "op", rules.Denied},
		{"ip", "/** = ip[10.0.0.0/8, ::1, 127.0.0.1]", "GET", "/", "", rules.Pass},
		{"ip other", "/** = ip[10.0.0.0/8]", "GET", "/", "", rules.Denied},
		{"port", "/** = port[8181]", "GET", "/", "", rules.Pass},
		{"port other", "/** = port[8443]", "GET", "/", "", rules.Denied},
		{"ssl", "/** = ssl", "GET", "/", "", rules.Denied},
		{"policies", "/** = authcBasic, dynamicAuthorization", "GET", "/", "user", rules.Denied},
		{"policies need a caller", "/** = dynamicAuthorization", "GET", "/", "user", rules.Unauthenticated},
		{"invalidRequest", "/** = invalidRequest, anon", "GET", "/l=a%2Fb", "", rules.Malformed},
		{"data root holds what is below", "/rests/data/aaa*/** = authcBasic, roles[admin]\n/** = authcBasic", "PATCH", "/rests/data", "user", rules.Denied},
		{"data root, role held", "/rests/data/aaa*/** = authcBasic, roles[admin]\n/** = authcBasic", "PATCH", "/rests/data", "admin", rules.Pass},
		{"other data", "/rests/data/aaa*/** = authcBasic, roles[admin]\n/** = authcBasic", "PATCH", "/rests/data/x", "user", rules.Pass},
		{"parent of guarded data", "/rests/data/x/y/** = authcBasic, roles[admin]\n/** = authcBasic", "GET", "/rests/data/x", "user", rules.Denied},
		{"a later rule is dead", "/rests/data/** = authcBasic\n/rests/data/x/** = authcBasic, roles[admin]", "GET", "/rests/data", "user", rules.Pass},
		{"a later rule after an exact one", "/rests/data = anon\n/rests/data/x/** = authcBasic, roles[admin]", "GET", "/rests/data", "", rules.Unauthenticated},
		{"not data", "/plugin/x/y = authcBasic, roles[admin]\n/** = authcBasic", "GET", "/plugin/x", "user", rules.Pass},
		{"own name for a filter", "/** = mine[a]", "GET", "/", "", rules.Unauthenticated},
	} {
		s := compile(t, "[main]\nmine = org.ctl.aaa.sec.filters.RolesAuthorizationFilter\n"+head+c.urls+"\n")
		if got := s.Decide(world{dynamic: rules.Denied}, request(t, c.method, c.path, c.auth)); got != c.want {
			t.Errorf("%s: verdict %d, want %d", c.name, got, c.want)
		}
	}
}

func TestTLSAndProperties(t *testing.T) {
	r := request(t, http.MethodGet, "/l=a%2Fb", "")
	r.HTTP.TLS = &tls.ConnectionState{}
	s := compile(t, "[main]\ninvalidRequest.blockEncodedForwardSlash = false\n[urls]\n/** = ssl, invalidRequest\n")
	if v := s.Decide(world{}, r); v != rules.Pass {
		t.Errorf("verdict %d", v)
	}
}

func TestFaultsOfRules(t *testing.T) {
	for urls, want := range map[string]string{
		"/** = authBasic":            `sec.ini:2: unknown filter "authBasic"; did you mean "authcBasic"?`,
		"/** = roles":                "sec.ini:2: filter \"roles\" needs arguments",
		"/** = ip[x]":                "sec.ini:2: \"x\" is neither an address",
		"/** = port[0]":              "sec.ini:2: port takes one port",
		"/** = authcBasic[FETCH]":    "sec.ini:2: \"FETCH\" is neither an HTTP method",
		"/a//b = anon":               "sec.ini:2: pattern",
		"/** = authcBasic, rolls[x]": `sec.ini:2: unknown filter "rolls"; did you mean "roles"?`,
	} {
		f, err := secini.Parse("sec.ini", []byte("[urls]\n"+urls))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rules.Compile(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", urls, err, want)
		}
	}
}

func manyRules(t testing.TB) (*rules.Set, *rules.Request) {
	s := compile(t, "[urls]\n/auth/v1/** = authcBasic, roles[admin]\n/**/operations/aaa-cert-rpc** = authcBasic, roles[admin]\n"+
		"/restconf/config/aaa*/** = authcBasic, roles[admin]\n/rests/data/aaa*/** = authcBasic, roles[admin]\n/** = authcBasic\n")
	return s, request(t, "GET", "/restconf/operational/network/topology/node/7", "")
}

func TestMatchingDoesNotAllocate(t *testing.T) {
	s, r := manyRules(t)
	segments := r.Path.Segments()
	if n := testing.AllocsPerRun(100, func() { s.Match(segments) }); n != 0 {
		t.Errorf("%v allocations per match", n)
	}
}

func BenchmarkMatch(b *testing.B) {
	s, r := manyRules(b)
	segments := r.Path.Segments()
	b.ReportAllocs()
	for b.Loop() {
		s.Match(segments)
	}
}
