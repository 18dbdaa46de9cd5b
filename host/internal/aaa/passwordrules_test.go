package aaa_test

import (
	"fmt"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/password"
)

// A password must be uncommon and not one of the last, and one that an administrator chose must be changed; each refusal names its
// rule.
func TestPasswordRules(t *testing.T) {
	common, err := password.Common()
	must(t, err)
	if len(common) != 10_000 {
		t.Fatalf("the list has %d passwords", len(common))
	}
	l := open(t, defaultINI, func(o *aaa.Options) {
		o.Common, o.PasswordHistory, o.ChangeGiven = common, 3, true
	})
	refuses := func(a answer, status int, rule string) {
		t.Helper()
		if a.status != status || !strings.Contains(a.body, rule) {
			t.Errorf("%d %s, want %d and %q", a.status, a.body, status, rule)
		}
	}
	user := `{"name":"bob","domainid":"sdn","password":%q}`
	for _, weak := range []string{"password1", "PassWord1", "iloveyou"} {
		refuses(l.do("POST", "/auth/v1/users", adm, fmt.Sprintf(user, weak)), 400, "aaa.passwordCommon")
	}
	l.want(201, "POST", "/auth/v1/users", adm, fmt.Sprintf(user, "first-of-bob"))
	l.want(201, "POST", "/auth/v1/domains/sdn/users/bob@sdn/roles", adm, `{"roleid":"user@sdn"}`)
	refuses(l.do("GET", "/x", "bob:first-of-bob", ""), 403, "chosen by an administrator")
	change := func(from, to string) answer {
		return l.do("POST", "/auth/password", "bob:"+from, fmt.Sprintf(`{"current":%q,"password":%q}`, from, to))
	}
	before := "first-of-bob"
	for _, next := range []string{"second-of-bob", "third-of-bob"} {
		if a := change(before, next); a.status != 204 {
			t.Fatalf("%s: %d %s", next, a.status, a.body)
		}
		l.want(200, "GET", "/x", "bob:"+next, "")
		before = next
	}
	refuses(change(before, "first-of-bob"), 400, "aaa.passwordHistory")
	refuses(change(before, "second-of-bob"), 400, "aaa.passwordHistory")
	if a := change(before, "fourth-of-bob"); a.status != 204 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := change("fourth-of-bob", "first-of-bob"); a.status != 204 {
		t.Errorf("the fourth last: %d %s", a.status, a.body)
	}
	l.want(200, "PUT", "/auth/v1/users/bob@sdn", adm, `{"password":"given-to-bob"}`)
	refuses(l.do("GET", "/x", "bob:given-to-bob", ""), 403, "chosen by an administrator")
	refuses(l.do("PUT", "/auth/v1/users/bob@sdn", adm, `{"password":"given-to-bob"}`), 400, "aaa.passwordHistory")
	l.want(200, "GET", "/x", adm, "") // from the environment: nobody else chose it
}
