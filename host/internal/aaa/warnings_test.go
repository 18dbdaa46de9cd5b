package aaa_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	ctl "ctl.internal"
	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/policy"
)

func warnings(ini string) string {
	var b strings.Builder
	for _, w := range aaa.Warnings(aaa.Options{SecINI: []byte(ini)}) {
		fmt.Fprintln(&b, w.Error())
	}
	return b.String()
}

func TestTheShippedFileMeansWhatItSays(t *testing.T) {
	ini, err := ctl.Templates.ReadFile("etc/sec.ini")
	must(t, err)
	if w := warnings(string(ini)); w != "" {
		t.Error(w)
	}
}

// What is wrong with a valid file is named with its line and the line to write.
func TestAFileThatMeansSomethingElseIsWarnedOf(t *testing.T) {
	const end = "/auth/v1/** = authcBasic, roles[admin]\n/** = authcBasic, dynamicAuthorization\n"
	for ini, want := range map[string][]string{
		"/token = authcBasic, roles[admin]\n" + end:                {"etc/sec.ini:2: /token matches nothing here", "write /oauth2/token = authcBasic, roles[admin]"},
		"/restcnf/** = authcBasic, roles[admin]\n" + end:           {"etc/sec.ini:2: /restcnf/** matches nothing", "restconf"},
		"/auth/v2/** = authcBasic, roles[admin]\n" + end:           {"etc/sec.ini:2: /auth/v2/** matches nothing: below /auth there are v1, password"},
		"auth/v1/roles = authcBasic, roles[admin]\n" + end:         {"etc/sec.ini:2: auth/v1/roles does not begin with a slash", "write that"},
		"/** = authcBasic\n/auth/v1/** = authcBasic, roles[admin]": {"etc/sec.ini:3: /auth/v1/** is never reached: line 2, /**, matches all of it", "etc/sec.ini:2: every user who can log in may change users"},
		"/web/* = authcBasic\n/web/app.js = anon\n" + end:          {"etc/sec.ini:3: /web/app.js is never reached: line 2"},
		"/web/** = roles[admin]\n" + end:                           {"etc/sec.ini:2: roles[admin] rejects every request", "write /web/** = authcBasic, roles[admin]"},
		"/web/** = dynamicAuthorization, authcBasic\n" + end:       {"etc/sec.ini:2: dynamicAuthorization rejects every request"},
		"/web/** = authcBasic, roles[\"admin, user\"]\n" + end:     {"etc/sec.ini:2: roles in one pair of quotes are several roles", "write roles[admin, user]"},
		"/** = anon":       {"etc/sec.ini:2: anybody, without a login, may change users, roles and passwords", "/auth/v1/** = authcBasic, roles[admin]", "access policies", "keystores"},
		"/** = authcBasic": {"etc/sec.ini:2: every user who can log in may change users, roles and passwords", "access policies", "keystores"},
		"/restconf/operations/switch-db:** = anon\n" + end: {"etc/sec.ini:2: /restconf/operations/switch-db:** = anon does not decide alone", "/rests/operations/switch-db:** (decided by line 4", "/operations/switch-db:**"},
		"/rests/data/** = authcBasic\n" + end:              {"etc/sec.ini:2: /rests/data/** = authcBasic does not decide alone", "/restconf/config/**", "/restconf/operational/**", "/restconf/data/**"},
	} {
		got := warnings("[urls]\n" + ini)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%q: no %q in\n%s", ini, w, got)
			}
		}
	}
	if w := warnings("[main]\nad = CtlDirectoryRealm\nad.groupRolesMap = \"ops\":\"admin\", \"CN=x,DC=y\":\"user\"\n[urls]\n" + end); !strings.Contains(w, `etc/sec.ini:3: ad.groupRolesMap: "ops" is not the DN of a group`) || strings.Contains(w, `"CN=x`) {
		t.Error(w)
	}
}

// The example of the documentation means what it says, too.
func TestTheDocumentedFileMeansWhatItSays(t *testing.T) {
	page, err := os.ReadFile("../../../docs/access-control.md")
	must(t, err)
	_, example, found := strings.Cut(string(page), "```ini for etc/sec.ini\n")
	example, _, _ = strings.Cut(example, "```")
	if !found || !strings.Contains(example, "[urls]") {
		t.Fatal("the page has no example")
	}
	if w := warnings(example); w != "" {
		t.Error(w)
	}
}

// A line that closes one address closes all addresses of the thing: there is nothing to warn of.
func TestAStricterLineIsNotWarnedOf(t *testing.T) {
	w := warnings("[urls]\n/restconf/modules = authcBasic, roles[admin]\n/** = authcBasic, dynamicAuthorization\n")
	if strings.Contains(w, "/restconf/modules") {
		t.Error(w)
	}
	if w := warnings("[urls]\n/restconf/modules = authcBasic\n/** = authcBasic, roles[admin]\n"); !strings.Contains(w, "/restconf/modules = authcBasic does not decide alone") {
		t.Error(w)
	}
}

// A password in clear text, or hashed weakly, is reported with its line and not repeated.
func TestPoorPasswordsInTheFileAreNamed(t *testing.T) {
	w := warnings("[users]\na = s3cret\nb = $shiro1$MD5$2$eA==$cHhGSrpm3t6I6El5aWwAJQ==, x\nc = $argon2id$v=19$m=4096,t=3,p=4$MTIzNDU2Nzg5MDEyMzQ1Ng$bjcHqfb0LPHyS13eVaNcBga9LF12I3k34H5ULt2gyoI\n[urls]\n/auth/v1/** = authcBasic, roles[admin]\n/** = authcBasic, dynamicAuthorization\n")
	for _, want := range []string{`etc/sec.ini:2: the password of "a" can be read`, `etc/sec.ini:3: the hash of the password of "b" is weak`, "argon2 "} {
		if !strings.Contains(w, want) {
			t.Errorf("no %q in\n%s", want, w)
		}
	}
	if strings.Contains(w, "s3cret") || strings.Contains(w, ":4: ") {
		t.Error(w)
	}
}

// A line that cannot be read does not hide what is wrong with the others.
func TestEveryFaultOfAFileIsNamed(t *testing.T) {
	err := aaa.Validate(aaa.Options{SecINI: []byte("[main]\nfoo = Bar\n[urls]\n/a = authBasic\n/x = roles[\n/** = authcBasic\n")})
	for _, want := range []string{"etc/sec.ini:2: unknown class", "etc/sec.ini:4: unknown filter", "etc/sec.ini:5: a bracket is not closed"} {
		if err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("not once %q: %v", want, err)
		}
	}
}

// Upstream's own file closes /v1: taken over as it is, it would leave the identity service open.
func TestAServletRelativeRuleIsRefused(t *testing.T) {
	err := aaa.Validate(aaa.Options{SecINI: []byte("[urls]\n/v1/** = authcBasic, roles[admin]\n/** = authcBasic\n")})
	if err == nil || !strings.Contains(err.Error(), "etc/sec.ini:2: ") || !strings.Contains(err.Error(), "write /auth/v1/** = authcBasic, roles[admin] above") {
		t.Error(err)
	}
	both := "[urls]\n/auth/v1/** = authcBasic, roles[admin]\n/v1/** = authcBasic, roles[admin]\n/** = authcBasic\n"
	if err := aaa.Validate(aaa.Options{SecINI: []byte(both)}); err != nil {
		t.Error(err)
	}
}

// The differences from Shiro that are decided in its favour.
func TestRulesAsShiroReadsThem(t *testing.T) {
	l := open(t, `[urls]
/x/* = authcBasic, roles[admin]
/two/** = authcBasic, roles["admin,user"]
/colon/** : authcBasic, roles[admin]
/perms/** = authcBasic, perms["Print:Query"]
/y/* = anon
/y = authcBasic, roles[admin]
/open/** = anon
/* = authcBasic, roles[admin]
/** = authcBasic
[roles]
user = print:*
`)
	l.want(401, "GET", "/x/", "user:user", "")
	l.want(401, "GET", "/x/a", "user:user", "")
	l.want(200, "GET", "/x/", adm, "")
	l.want(401, "GET", "/", "user:user", "") // the first page is covered by /*
	l.want(200, "GET", "/", adm, "")
	l.want(401, "GET", "/y/", "user:user", "") // a pattern for what is below it opens nothing that is closed
	l.want(200, "GET", "/two/x", adm, "")      // both roles
	l.want(401, "GET", "/two/x", "user:user", "")
	l.want(401, "GET", "/colon/x", "user:user", "")
	l.want(200, "GET", "/colon/x", adm, "")
	l.want(200, "GET", "/perms/x", "user:user", "") // permissions ignore case
	l.want(200, "GET", "/open/x", "", "")
}

// Administrators learn what decides a request, and why; others do not.
func TestExplain(t *testing.T) {
	l := open(t, "[urls]\n/auth/v1/** = authcBasic, roles[admin]\n/rests/operations/a:b = authcBasic, roles[admin]\n/** = authcBasic, dynamicAuthorization\n")
	must(t, l.Policies().Set([]policy.Policy{{Resource: "/restconf/modules/**", Permissions: []policy.Permission{{Role: "admin", Actions: []string{"get"}}}}}))
	for query, want := range map[string][]string{
		"user=user&method=GET&path=/auth/v1/users":            {`"allowed":false`, "line 2, /auth/v1/** = authcBasic, roles[admin], decides", "roles of the user: user"},
		"user=admin&method=get&path=/auth/v1/users":           {`"allowed":true`, `"realm":"TokenAuthRealm"`},
		"user=user&method=GET&path=/rests/modules":            {`"allowed":false`, "policy 1, resource /restconf/modules/**, role admin: get", "/restconf/modules"},
		"user=user&method=POST&path=/restconf/operations/a:b": {`"allowed":false`, "line 3, /rests/operations/a:b", `"address":"/restconf/operations/a:b"`},
		"user=user&method=GET&path=/web/x":                    {`"allowed":true`, `"line":4`},
	} {
		a := l.want(200, "GET", "/auth/v1/access/explain?"+query, adm, "")
		for _, w := range want {
			if !strings.Contains(a.body, w) {
				t.Errorf("%s: no %s in\n%s", query, w, a.body)
			}
		}
	}
	l.want(404, "GET", "/auth/v1/access/explain?user=nobody&method=GET&path=/", adm, "")
	l.want(400, "GET", "/auth/v1/access/explain?user=user&method=GET&path=/a/../b", adm, "")
	l.want(400, "GET", "/auth/v1/access/explain?user=user", adm, "")
	l.want(401, "GET", "/auth/v1/access/explain?user=admin&method=GET&path=/", "user:user", "")
	open := open(t, "[urls]\n/** = authcBasic\n")
	open.want(403, "GET", "/auth/v1/access/explain?user=admin&method=GET&path=/", "user:user", "")
	out, err := realmCommand(t, l, "access:explain", "user", "")
	if err == nil {
		t.Errorf("without method and path: %s", out)
	}
}
