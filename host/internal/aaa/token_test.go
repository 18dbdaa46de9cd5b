package aaa_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/sdk/realm"
)

const passwordForm = "grant_type=password&scope=sdn&username="

var tokenForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// token logs in and returns the Bearer credentials for do.
func (l *lab) token(user, password string) string {
	l.t.Helper()
	a := l.want(200, "POST", "/oauth2/token", "", passwordForm+user+"&password="+password)
	t, _ := object(l.t, a.body)["access_token"].(string)
	if !tokenForm.MatchString(t) {
		l.t.Fatalf("token %q", t)
	}
	return "bearer " + t
}

func TestTokenAnswer(t *testing.T) {
	l := open(t, defaultINI)
	a := l.want(200, "POST", "/oauth2/token", "", passwordForm+"admin&password=admin&client_id=dlux&client_secret=secrete")
	o := object(t, a.body)
	if len(o) != 4 || o["token_type"] != "Bearer" || o["expires_in"] != 3600.0 || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("answer %v, %v", o, a.header)
	}
	tok := l.token("admin", "admin")
	if b := l.want(200, "GET", "/restconf/modules", tok, ""); b.body != "admin@sdn admin,user" {
		t.Errorf("the caller is %q", b.body)
	}
	l.want(200, "GET", "/auth/v1/domains", tok, "")
	l.want(401, "GET", "/auth/v1/domains", l.token("user", "user"), "")
	l.want(401, "GET", "/restconf/modules", "bearer notARealToken", "")
	l.want(400, "POST", "/oauth2/token", "", "grant_type=refresh_token&scope=sdn&refresh_token="+tok[7:]) // an access token is none
	if h := l.want(401, "GET", "/x", "bearer "+tok[8:]+"0", "").header.Get("WWW-Authenticate"); !strings.HasPrefix(h, "Bearer ") || !strings.Contains(h, `error="invalid_token"`) {
		t.Errorf("a refused token is challenged with %s", h)
	}
	if h := l.want(401, "GET", "/x", "", "").header.Get("WWW-Authenticate"); !strings.HasPrefix(h, "Basic ") {
		t.Errorf("no credentials are challenged with %s", h)
	}
	m := object(t, l.want(200, "GET", "/.well-known/oauth-authorization-server", "", "").body)
	if m["issuer"] != l.URL || m["token_endpoint"] != l.URL+"/oauth2/token" {
		t.Errorf("metadata %v", m)
	}
}

// refresh exchanges a refresh token.
func (l *lab) refresh(want int, refresh string) (access, next string) {
	l.t.Helper()
	o := object(l.t, l.want(want, "POST", "/oauth2/token", "", "grant_type=refresh_token&refresh_token="+refresh).body)
	access, _ = o["access_token"].(string)
	next, _ = o["refresh_token"].(string)
	return "bearer " + access, next
}

func (l *lab) login(user, password string) (access, refresh string) {
	l.t.Helper()
	o := object(l.t, l.want(200, "POST", "/oauth2/token", "", passwordForm+user+"&password="+password).body)
	return "bearer " + o["access_token"].(string), o["refresh_token"].(string)
}

// A refresh token is good once; one that is sent again ends all tokens of its login, and those of no other.
func TestRefreshTokensRotate(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := open(t, defaultINI, func(o *aaa.Options) { o.Now = func() time.Time { return now } })
	other, _ := l.login("user", "user")
	access, r1 := l.login("user", "user")
	l.want(401, "GET", "/x", "bearer "+r1, "") // it opens nothing else
	access2, r2 := l.refresh(200, r1)
	l.want(200, "GET", "/x", access, "")
	l.want(200, "GET", "/x", access2, "")
	access3, r3 := l.refresh(200, r2)
	l.refresh(400, r1) // stolen, or sent by who was robbed
	for _, a := range []string{access, access2, access3} {
		l.want(401, "GET", "/x", a, "")
	}
	l.refresh(400, r3)
	l.want(200, "GET", "/x", other, "")

	_, r := l.login("user", "user")
	for range 5 { // however often it is refreshed, it ends
		now = now.Add(6 * 24 * time.Hour)
		if now.Before(time.Unix(1e9, 0).Add(30 * 24 * time.Hour)) {
			_, r = l.refresh(200, r)
		}
	}
	l.refresh(400, r)
	_, r = l.login("user", "user")
	now = now.Add(8 * 24 * time.Hour)
	l.refresh(400, r) // unused for too long
	access, r = l.login("user", "user")
	l.want(200, "POST", "/oauth2/revoke", "", "token="+r)
	l.want(401, "GET", "/x", access, "")
	_, r = l.login("user", "user")
	l.want(200, "PUT", "/auth/v1/users/user@sdn", adm, `{"enabled":false}`)
	l.refresh(400, r)
}

// Of many that exchange one refresh token at once, at most one gets tokens.
func TestARefreshTokenIsExchangedOnce(t *testing.T) {
	l := open(t, defaultINI)
	_, r := l.login("user", "user")
	var wg sync.WaitGroup
	var good atomic.Int32
	for range 8 {
		wg.Go(func() {
			if l.do("POST", "/oauth2/token", "", "grant_type=refresh_token&refresh_token="+r).status == 200 {
				good.Add(1)
			}
		})
	}
	wg.Wait()
	if good.Load() > 1 {
		t.Errorf("it was exchanged %d times", good.Load())
	}
}

// A user of an outside realm has tokens where the realm finds users without the password, with the
// rights of the last minute.
func TestTokensOfOutsideUsers(t *testing.T) {
	now := time.Unix(1e9, 0)
	d := &finding{directory: directory{users: map[string]string{"far@": "pw"}, roles: []string{"admin"}}}
	l := open(t, strings.Replace(defaultINI, "securityManager.realms = $tokenAuthRealm", "ldapRealm = CtlJndiLdapRealm\nsecurityManager.realms = $tokenAuthRealm, $ldapRealm", 1), func(o *aaa.Options) {
		o.Realms, o.Now = d, func() time.Time { return now }
	})
	// Without an account to look users up with: the roles of the login, for half an hour, and never refreshed.
	o := object(t, l.want(200, "POST", "/oauth2/token", "", passwordForm+"far&password=pw").body)
	held, _ := o["access_token"].(string)
	if _, refreshed := o["refresh_token"]; refreshed || o["expires_in"] != 1800.0 {
		t.Errorf("without an account to look up with: %v", o)
	}
	d.roles = []string{"user"}
	l.want(200, "GET", "/auth/v1/users", "bearer "+held, "")
	now = now.Add(29 * time.Minute)
	l.want(200, "GET", "/auth/v1/users", "bearer "+held, "")
	now = now.Add(time.Minute)
	l.want(401, "GET", modules, "bearer "+held, "")
	held, _ = object(t, l.want(200, "POST", "/oauth2/token", "", passwordForm+"far&password=pw").body)["access_token"].(string)
	l.want(200, "POST", "/oauth2/revoke", "", "token="+held)
	l.want(401, "GET", modules, "bearer "+held, "")
	l.want(204, "POST", "/web/login", "", `{"user": "far", "password": "pw"}`)
	d.roles = []string{"admin"}
	d.account = true
	now = now.Add(2 * time.Minute) // for the cached login
	access, r := l.login("far", "pw")
	l.want(200, "GET", "/auth/v1/users", access, "")
	d.roles = []string{"user"}
	l.want(200, "GET", "/auth/v1/users", access, "") // believed for a minute
	now = now.Add(time.Minute)
	l.want(401, "GET", "/auth/v1/users", access, "")
	l.want(200, "GET", modules, access, "")
	now = now.Add(time.Minute)
	d.down = true
	l.want(503, "GET", modules, access, "")
	l.refresh(503, r)
	d.down = false
	access, r = l.refresh(200, r)
	if in := object(t, l.want(200, "POST", "/oauth2/introspect", adm, "token="+access[7:]).body); in["active"] != true || in["username"] != "far" {
		t.Errorf("introspection %v", in)
	}
	delete(d.users, "far@")
	now = now.Add(time.Minute)
	l.want(401, "GET", modules, access, "")
	l.refresh(400, r)
}

// A user has a bounded number of live tokens; sessions are counted apart, and one that ends makes room.
func TestLiveTokensOfAUserAreBounded(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := open(t, defaultINI, func(o *aaa.Options) { o.TokensPerUser, o.Now = 3, func() time.Time { return now } })
	var last, refresh string
	for range 3 {
		last, refresh = l.login("user", "user")
	}
	a := l.want(429, "POST", "/oauth2/token", "", passwordForm+"user&password=user")
	if a.header.Get("Retry-After") != "3600" || !strings.Contains(a.body, "aaa.tokensPerUser") {
		t.Errorf("%v %s", a.header, a.body)
	}
	l.want(429, "POST", "/oauth2/token", "", "grant_type=refresh_token&refresh_token="+refresh)
	l.login("admin", "admin")
	l.want(204, "POST", "/web/login", "", `{"user": "user", "password": "user"}`)
	l.want(200, "POST", "/oauth2/revoke", "", "token="+last[7:])
	l.login("user", "user")
	l.want(429, "POST", "/oauth2/token", "", passwordForm+"user&password=user")
	now = now.Add(time.Hour)
	l.login("user", "user")
}

// finding is a directory with an account to look users up with, or without.
type finding struct {
	directory
	account bool
}

func (f *finding) Realm(context.Context, realm.Config) (realm.Realm, error) { return f, nil }

func (f *finding) Find(_ context.Context, user, domain string) (realm.Result, error) {
	switch _, known := f.users[user+"@"+domain]; {
	case !f.account:
		return realm.Result{}, realm.ErrNoFinder
	case f.down:
		return realm.Result{Outcome: realm.Unavailable}, nil
	case !known:
		return realm.Result{Outcome: realm.Unknown}, nil
	}
	return realm.Result{Outcome: realm.Authenticated, Principal: user, Roles: f.roles}, nil
}

func TestLifetimeAndTimeToLive(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := open(t, defaultINI, func(o *aaa.Options) {
		o.AuthnConfig = []byte("<c><timeToLive>7200000</timeToLive></c>")
		o.TokenLifetime = time.Hour
		o.Now = func() time.Time { return now }
	})
	if e := object(t, l.want(200, "POST", "/oauth2/token", "", passwordForm+"admin&password=admin").body)["expires_in"]; e != 3600.0 {
		t.Errorf("expires_in %v", e)
	}
	tok := l.token("admin", "admin")
	now = now.Add(59 * time.Minute)
	l.want(200, "GET", "/x", tok, "")
	now = now.Add(time.Minute)
	l.want(401, "GET", "/x", tok, "")
}

func TestTokenErrors(t *testing.T) {
	l := open(t, defaultINI)
	for form, code := range map[string]string{
		"grant_type=":                    "invalid_request",
		"username=admin&password=admin":  "invalid_request",
		"grant_type=password&username=a": "invalid_request",
		"grant_type=password&grant_type=password&username=admin&password=admin": "invalid_request",
		"grant_type=%zz":                                              "invalid_request",
		"grant_type=refresh_token":                                    "invalid_request",
		"grant_type=authorization_code&code=x":                        "unsupported_grant_type",
		passwordForm + "admin&password=wrong":                         "invalid_grant",
		passwordForm + "notTheAdmin&password=admin":                   "invalid_grant",
		"grant_type=refresh_token&refresh_token=x":                    "invalid_grant",
		"grant_type=password&username=admin&password=admin&scope=lab": "invalid_scope",
	} {
		a := l.want(400, "POST", "/oauth2/token", "", form)
		if o := object(t, a.body); o["error"] != code {
			t.Errorf("%s: %v, want %s", form, o, code)
		}
	}
	wrong := l.want(400, "POST", "/oauth2/token", "", passwordForm+"admin&password=wrong").body
	if unknown := l.want(400, "POST", "/oauth2/token", "", passwordForm+"nobody&password=wrong").body; unknown != wrong {
		t.Errorf("an unknown user can be distinguished from a wrong password: %s, %s", unknown, wrong)
	}
	l.want(405, "GET", "/oauth2/token", "", "")
	l.want(400, "POST", "/oauth2/token?grant_type=password&username=admin&password=admin", "", "x=y")
	l.want(400, "POST", "/oauth2/token", "", `{"grant_type":"password"}`)
}

func TestRevokeAndIntrospect(t *testing.T) {
	l := open(t, defaultINI)
	tok := l.token("admin", "admin")
	l.want(401, "POST", "/oauth2/introspect", "", "token="+tok[7:])
	if in := object(t, l.want(200, "POST", "/oauth2/introspect", "user:user", "token="+tok[7:]).body); in["active"] != false || len(in) != 1 {
		t.Errorf("another user learns %v", in)
	}
	if own := l.token("user", "user"); object(t, l.want(200, "POST", "/oauth2/introspect", own, "token="+own[7:]).body)["active"] != true {
		t.Error("a token's owner may not ask about it")
	}
	in := object(t, l.want(200, "POST", "/oauth2/introspect", adm, "token="+tok[7:]).body)
	if in["active"] != true || in["username"] != "admin" || in["scope"] != "sdn" || in["exp"].(float64)-in["iat"].(float64) != 3600 {
		t.Errorf("introspection %v", in)
	}
	l.want(401, "POST", "/oauth2/introspect", "admin:wrong", "token="+tok[7:])
	l.want(204, "POST", "/oauth2/revoke", "", tok[7:])
	l.want(401, "GET", "/x", tok, "")
	l.want(401, "POST", "/oauth2/revoke", "", tok[7:])
	if in := object(t, l.want(200, "POST", "/oauth2/introspect", adm, "token="+tok[7:]).body); in["active"] != false || len(in) != 1 {
		t.Errorf("introspection of a dead token %v", in)
	}
	tok = l.token("admin", "admin")
	l.want(200, "POST", "/oauth2/revoke", "", "token="+tok[7:])
	l.want(200, "POST", "/oauth2/revoke", "", "token="+tok[7:])
	l.want(401, "GET", "/x", tok, "")
	l.want(400, "POST", "/oauth2/revoke", "", "tok=1")
}

func TestTokensDieWithWhatTheyStandOn(t *testing.T) {
	l := open(t, defaultINI)
	l.user("bob", "user")
	for what, end := range map[string]func(){
		"password": func() { l.want(200, "PUT", "/auth/v1/users/bob@sdn", adm, `{"password":"password1"}`) },
		"disabling": func() {
			l.want(200, "PUT", "/auth/v1/users/bob@sdn", adm, `{"enabled":false}`)
			l.want(200, "PUT", "/auth/v1/users/bob@sdn", adm, `{"enabled":true}`)
		},
		"deletion": func() {
			l.want(204, "DELETE", "/auth/v1/users/bob@sdn", adm, "")
			l.user("bob", "user")
		},
	} {
		tok := l.token("bob", "password1")
		l.want(200, "GET", "/x", tok, "")
		l.want(200, "GET", "/x", "bob:password1", "")
		end()
		if a := l.do("GET", "/x", tok, ""); a.status != http.StatusUnauthorized {
			t.Errorf("the token outlives %s: %d", what, a.status)
		}
	}
	tok := l.token("bob", "password1")
	l.want(204, "DELETE", "/auth/v1/domains/sdn/users/bob@sdn/roles/user@sdn", adm, "")
	l.want(401, "GET", "/x", tok, "")
	l.want(201, "POST", "/auth/v1/domains/sdn/users/bob@sdn/roles", adm, `{"roleid":"admin@sdn"}`)
	l.want(200, "GET", "/auth/v1/users", tok, "") // rights are looked up at use
}

func TestTokensSurviveARestartAndOnlyDigestsAreStored(t *testing.T) {
	store := storetest.New(storetest.Options{})
	defer store.Close()
	same := func(o *aaa.Options) { o.Store = store }
	first := open(t, defaultINI, same)
	tok := first.token("admin", "admin")
	second := open(t, defaultINI, same)
	second.want(200, "GET", "/x", tok, "")
	must(t, store.View(ctx, func(sn datastore.Snapshot) error {
		for _, ns := range []string{"aaa-token", "aaa-identity"} {
			for e, err := range sn.Range(ns, datastore.RangeOptions{}) {
				must(t, err)
				if strings.Contains(e.Key+string(e.Value), tok[7:]) || strings.Contains(string(e.Value), `"admin"`) && ns == "aaa-identity" {
					t.Errorf("%s %s holds a secret in clear", ns, e.Key)
				}
			}
		}
		return nil
	}))
}
