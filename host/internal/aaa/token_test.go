package aaa_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/memory"
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
	if len(o) != 3 || o["token_type"] != "Bearer" || o["expires_in"] != 360.0 || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("answer %v, %v", o, a.header)
	}
	tok := l.token("admin", "admin")
	if b := l.want(200, "GET", "/restconf/modules", tok, ""); b.body != "admin@sdn admin,user" {
		t.Errorf("the caller is %q", b.body)
	}
	l.want(200, "GET", "/auth/v1/domains", tok, "")
	l.want(401, "GET", "/auth/v1/domains", l.token("user", "user"), "")
	l.want(401, "GET", "/restconf/modules", "bearer notARealToken", "")
	l.want(200, "POST", "/oauth2/token", "", "grant_type=refresh_token&scope=sdn&refresh_token="+tok[7:])
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
		t.Errorf("an unknown user is told from a wrong password: %s, %s", unknown, wrong)
	}
	l.want(405, "GET", "/oauth2/token", "", "")
	l.want(400, "POST", "/oauth2/token?grant_type=password&username=admin&password=admin", "", "x=y")
	l.want(400, "POST", "/oauth2/token", "", `{"grant_type":"password"}`)
}

func TestRevokeAndIntrospect(t *testing.T) {
	l := open(t, defaultINI)
	tok := l.token("admin", "admin")
	in := object(t, l.want(200, "POST", "/oauth2/introspect", "", "token="+tok[7:]).body)
	if in["active"] != true || in["username"] != "admin" || in["scope"] != "sdn" || in["exp"].(float64)-in["iat"].(float64) != 3600 {
		t.Errorf("introspection %v", in)
	}
	l.want(401, "POST", "/oauth2/introspect", "admin:wrong", "token="+tok[7:])
	l.want(204, "POST", "/oauth2/revoke", "", tok[7:])
	l.want(401, "GET", "/x", tok, "")
	l.want(401, "POST", "/oauth2/revoke", "", tok[7:])
	if in := object(t, l.want(200, "POST", "/oauth2/introspect", "", "token="+tok[7:]).body); in["active"] != false || len(in) != 1 {
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
	store := memory.New(memory.Options{})
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
