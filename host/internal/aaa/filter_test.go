package aaa_test

import (
	"net/http"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
)

func TestBasic(t *testing.T) {
	l := open(t, defaultINI)
	for _, auth := range []string{"", "admin:wrong", "nobody:admin", "admin:", ":admin", "admin@:admin", "a@b@c:admin", "admin@lab:admin"} {
		a := l.want(http.StatusUnauthorized, "GET", "/restconf/modules", auth, "")
		if c := a.header.Get("WWW-Authenticate"); c != `Basic realm="application", charset="UTF-8"` {
			t.Errorf("challenge %q", c)
		}
		if len(a.header["Set-Cookie"]) != 0 {
			t.Error("a session cookie was set")
		}
	}
	for _, auth := range []string{"admin:admin", "admin@sdn:admin"} {
		if a := l.want(http.StatusOK, "GET", "/restconf/modules", auth, ""); a.body != "admin@sdn admin,user" {
			t.Errorf("the caller is %q", a.body)
		}
	}
	a := l.want(http.StatusUnauthorized, "GET", "/auth/v1/users", "user:user", "")
	if a.header.Get("WWW-Authenticate") != "" {
		t.Error("a denied role is answered with a challenge")
	}
}

func TestOddAuthorizationHeaders(t *testing.T) {
	l := open(t, defaultINI)
	for name, values := range map[string][]string{
		"two headers":    {"Basic YWRtaW46YWRtaW4=", "Basic YWRtaW46YWRtaW4="},
		"no colon":       {"Basic YWRtaW4="},
		"not base64":     {"Basic !!!"},
		"not UTF-8":      {"Basic /////w=="},
		"other scheme":   {"Digest username=admin"},
		"empty":          {""},
		"longer than 8K": {"Basic " + strings.Repeat("A", 9000)},
	} {
		r, _ := http.NewRequest("GET", l.URL+"/x", nil)
		r.Header["Authorization"] = values
		if a := l.send(r); a.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	r, _ := http.NewRequest("GET", l.URL+"/x", nil)
	r.Header.Set("Authorization", "bAsIc YWRtaW46YWRtaW4=")
	if a := l.send(r); a.status != http.StatusOK {
		t.Errorf("the scheme's case counts: %d", a.status)
	}
}

func TestMethodsCannotSlipThrough(t *testing.T) {
	l := open(t, defaultINI)
	for _, m := range []string{"OPTIONS", "HEAD", "TRACE", "PROPFIND"} {
		l.want(http.StatusUnauthorized, m, "/restconf/modules", "", "")
	}
	for _, h := range []string{"X-Original-URL", "X-Rewrite-URL", "X-HTTP-Method-Override"} {
		r, _ := http.NewRequest("GET", l.URL+"/auth/v1/users", nil)
		r.SetBasicAuth("user", "user")
		r.Header.Set(h, "/public")
		if a := l.send(r); a.status != http.StatusUnauthorized {
			t.Errorf("%s is believed: %d", h, a.status)
		}
	}
}

func TestDisabledByAnon(t *testing.T) {
	l := open(t, "[urls]\n/** = anon\n")
	l.want(http.StatusOK, "GET", "/auth/v1/users", "", "")
}

func TestRoleDeniedStatusIsASetting(t *testing.T) {
	l := open(t, defaultINI, func(o *aaa.Options) { o.RoleDeniedStatus = http.StatusForbidden })
	l.want(http.StatusForbidden, "GET", "/auth/v1/users", "user:user", "")
}

func TestStartIsRefusedWithPlaceAndRemedy(t *testing.T) {
	for ini, want := range map[string]string{
		"[main]\nx = org.example.OwnRealm\n":                            "; list a class of your own plugin in aaa.realmKinds of etc/ctl.yaml",
		"[main]\nx = org.ctl.aaa.sec.realm.TokenAuthReal\n":             `etc/sec.ini:2: unknown class "TokenAuthReal"; did you mean "TokenAuthRealm"?`,
		"[main]\nx.y = 1\n":                                             `etc/sec.ini:2: "x" has properties but no class`,
		"[main]\nsecurityManager.realm = $iniRealm\n":                   `etc/sec.ini:2: unknown property "realm"; did you mean "realms"?`,
		"[main]\nsecurityManager.realms =\n":                            `etc/sec.ini:2: no realm is named`,
		"[main]\na = TokenAuthRealm\nsecurityManager.realms = $a, $a\n": `etc/sec.ini:3: realm "a" is named twice`,
		"[urls]\n/** = authBasic\n":                                     `etc/sec.ini:2: unknown filter "authBasic"; did you mean "authcBasic"?`,
		"[main]\nl = CtlJndiLdapRealm\nl.timeout = x\n":                 `etc/sec.ini:3: l.timeout takes milliseconds`,
		"[users]\nbob =\n":                                              `etc/sec.ini:2: user "bob" has no password`,
		"[main]\nauthcBasic.applicationName = \"a\\\"b\"\n":             `etc/sec.ini:2: the name of the application`,
	} {
		err := aaa.Validate(aaa.Options{SecINI: []byte(ini)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", ini, err, want)
		}
	}
}
