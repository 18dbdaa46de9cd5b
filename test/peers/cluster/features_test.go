//go:build peers

package clusterpeers

import (
	"strings"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// A feature that one node installs, stops or uninstalls runs, rests or goes at the
// other, with its plugin and its paths; and both may change the set in turn.
func followFeatures(t *testing.T, one, two *harness.Controller) {
	const path = "/repoinfo/git/branches" // the plugin asks for a project, 400
	soon := func(what string, c *harness.Controller, installed bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; {
			status, body := do(t, c, "GET", path, "admin:admin", "")
			list := c.Ctl("feature:list -i")
			runs := strings.Contains(c.Ctl("plugin:list"), "repoinfo")
			if has := strings.Contains(list, "ctl-repoinfo "); (status == 400) == installed && runs == installed && has == installed {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %s answers %d %s, plugin runs: %v, installed:\n%s", what, path, status, body, runs, list)
			}
		}
	}
	one.Ctl("feature:install ctl-repoinfo")
	soon("installed at the other", two, true)
	two.Ctl("feature:install ctl-aaa-cert") // refused until a restart before
	two.Ctl("feature:uninstall ctl-repoinfo")
	soon("uninstalled at the other", one, false)
	one.Ctl("feature:install ctl-repoinfo")
	soon("installed again", two, true)
	two.Restart()
	soon("after a restart", two, true)
	two.Ctl("feature:stop ctl-repoinfo")
	for deadline := time.Now().Add(time.Minute); strings.TrimSpace(one.Ctl("feature:status ctl-repoinfo")) != "Resolved"; {
		if time.Now().After(deadline) {
			t.Fatalf("stopped at the other, here %s", one.Ctl("feature:status ctl-repoinfo"))
		}
	}
	if got := one.Ctl("plugin:list"); strings.Contains(got, "repoinfo") {
		t.Errorf("its plugin runs on: %s", got)
	}
	one.Ctl("feature:uninstall ctl-repoinfo ctl-aaa-cert")
	soon("gone", two, false)
}
