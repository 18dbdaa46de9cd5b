package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/test/harness"
)

// TestProjectsHaveRulesOfTheirOwn names projects in url rules and in a policy, which hold for
// both forms of the address.
func TestProjectsHaveRulesOfTheirOwn(t *testing.T) {
	home := harness.NewHome(t)
	c := start(t, home)
	clones := filepath.Join(home, "data", "repos")
	for _, name := range []string{"open", "lab/secret", "lab/policy"} {
		gittest.Zoo(t, filepath.Join(clones, name+".git"))
	}
	c.Ctl("feature:install ctl-repoinfo")
	file := filepath.Join(home, "etc", "sec.ini")
	shipped, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rules := "[urls]\n/repoinfo/projects/lab/secret/** = authcBasic, roles[admin]\n/repoinfo/git/report = authcBasic, roles[admin]\n" +
		"/repoinfo/** = authcBasic, dynamicAuthorization\n/** = authcBasic, dynamicAuthorization\n"
	ini := append(bytes.Clone(shipped[:bytes.Index(shipped, []byte("[urls]"))]), rules...)
	if err := os.WriteFile(file, ini, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Restart()
	if a := c.Do("PUT", jsonPolicies, admin, policies("/repoinfo/projects/lab/policy/**", "admin", "get")); a.Status/100 != 2 {
		t.Fatalf("policy: %d %s", a.Status, a.Body)
	}
	for _, row := range []struct {
		path        string
		user, admin int
	}{
		{"/repoinfo/projects/open/git/branches", 200, 200},
		{"/repoinfo/git/branches?project=open", 200, 200},
		{"/repoinfo/git/branches?project=lab/policy", 401, 200},
		{"/repoinfo/projects/open/git/report", 401, 200},
		{"/repoinfo/projects/lab/secret/git/branches", 401, 200},
		{"/repoinfo/projects/lab/policy/git/branches", 401, 200},
		{"/repoinfo/projects/lab%2Fsecret/git/branches", 0, 0},
		{"/repoinfo/projects/open/../lab/secret/git/branches", 400, 400},
		{"/repoinfo/projects/open/git/branches?project=lab/secret", 401, 400},
		{"/repoinfo/git/branches?project=lab/secret", 401, 200},
		{"/repoinfo/git/report", 401, 200},
	} {
		for who, want := range map[string]int{user: row.user, admin: row.admin} {
			a := c.Do("GET", row.path, who, "")
			if want == 0 && a.Status >= 400 {
				continue // one spelling only
			}
			if a.Status != want {
				t.Errorf("%s as %s: %d, want %d: %s", row.path, who, a.Status, want, a.Body)
			}
			if a.Status == 200 && !json.Valid([]byte(a.Body)) || a.Status != 200 && strings.Contains(a.Body, "stable/boron") {
				t.Errorf("%s as %s: %s", row.path, who, a.Body)
			}
		}
	}
}
