package aaa_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/policy"
	"ctl.internal/sdk/caller"
)

// lasting lets a request in and returns its context, as a stream of events holds it.
func lasting(t *testing.T, l *lab, path, auth string) (in context.Context) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr = "192.0.2.1:7"
	identify(r, auth)
	w := httptest.NewRecorder()
	l.Filter(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { in = r.Context() })).ServeHTTP(w, r)
	if in == nil {
		t.Fatalf("not let in: %d %s", w.Code, w.Body)
	}
	return in
}

// A stream of events must not go on for somebody who would not be let in any more.
func TestARequestThatLastsEndsWithItsRight(t *testing.T) {
	const stream = "/rests/streams/stream/lab"
	no, password := false, "other password"
	change := func(c identity.UserChange) func(*lab) {
		return func(l *lab) { _, err := l.Identity().UpdateUser(ctx, "bob@sdn", c); must(l.t, err) }
	}
	for name, c := range map[string]struct {
		then  func(*lab)
		still bool
	}{
		"nothing":      {func(*lab) {}, true},
		"disabled":     {change(identity.UserChange{Enabled: &no}), false},
		"new password": {change(identity.UserChange{Password: &password}), false},
		"deleted":      {func(l *lab) { must(l.t, l.Identity().DeleteUser(ctx, "bob@sdn")) }, false},
		"role taken": {func(l *lab) {
			must(l.t, l.Identity().DeleteGrant(ctx, identity.Grant{User: "bob@sdn", Role: "user@sdn", Domain: "sdn"}))
		}, false},
		"policy": {func(l *lab) {
			must(l.t, l.Policies().Set([]policy.Policy{permit("/rests/streams/**", "admin", "get")}))
		}, false},
		"policy of another path": {func(l *lab) {
			must(l.t, l.Policies().Set([]policy.Policy{permit("/rests/data/**", "admin", "get")}))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, defaultINI)
			l.user("bob", "user")
			byPassword, byToken := lasting(t, l, stream, "bob:password1"), lasting(t, l, stream, l.token("bob", "password1"))
			c.then(l)
			if aaa.Still(byPassword) != c.still || aaa.Still(byToken) != c.still {
				t.Errorf("by password %v, by token %v; want %v", aaa.Still(byPassword), aaa.Still(byToken), c.still)
			}
		})
	}
}

func TestARequestThatLastsEndsWithItsToken(t *testing.T) {
	l := open(t, defaultINI)
	token := l.token("user", "user")
	in := lasting(t, l, "/restconf/streams/stream/lab", token)
	if !aaa.Still(in) {
		t.Fatal("not while the token lives")
	}
	l.want(204, "POST", "/oauth2/revoke", "", token[len("bearer "):])
	if aaa.Still(in) {
		t.Error("the token was revoked")
	}
}

func TestOtherRequestsAreNotAskedAgain(t *testing.T) {
	if !aaa.Still(ctx) {
		t.Error("what is no request is refused")
	}
	l := open(t, "[urls]\n/** = anon\n")
	r := httptest.NewRequest(http.MethodGet, "/rests/streams/stream/lab", nil)
	l.Filter(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if !aaa.Still(r.Context()) {
			t.Error("a path that is open to all was closed")
		}
	})).ServeHTTP(httptest.NewRecorder(), r)
}

// What lasts is asked with the roles that the user has now.
func TestARequestThatLastsHasTheRolesOfNow(t *testing.T) {
	for _, path := range []string{"/rests/subscriptions/7", "/restconf/subscriptions/7", "/subscriptions/7"} {
		l := open(t, defaultINI)
		l.user("bob", "user")
		in := lasting(t, l, path, "bob:password1")
		must(t, l.Identity().CreateGrant(ctx, identity.Grant{User: "bob@sdn", Role: "admin@sdn", Domain: "sdn"}))
		now, may := aaa.Renew(in)
		if who, _ := caller.From(now); !may || !who.HasRole("admin") {
			t.Errorf("%s: %v, roles %v", path, may, who.Roles)
		}
		must(t, l.Identity().DeleteUser(ctx, "bob@sdn"))
		if _, may := aaa.Renew(in); may {
			t.Errorf("%s goes on without its user", path)
		}
	}
}
