//go:build peers

package realmpeers

import (
	"testing"

	"ctl.internal/test/harness"
)

func TestReferralsAreNotFollowed(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	s := startSlapd(t, cert, key, 0)
	for name, k := range map[string]struct {
		more string
		why  string // the log reports; empty = alice logs in all the same
	}{
		"of a branch, among the entries":   {"searchFilter = (title=boss)", ""},
		"of the branch that is searched":   {"searchBase = \"ou=Branch,dc=lab,dc=test\"\nsearchFilter = (uid={0})", "ldap://branch.lab.test/"},
		"of what the server does not have": {"searchBase = \"dc=example\"\nsearchFilter = (uid={0})", "ldap://elsewhere.lab.test"},
	} {
		t.Run(name, func(t *testing.T) {
			c := harness.Start(t, bin, ldapINI(s.plain, k.more))
			c.Ctl("feature:install ctl-realm-ldap")
			moved := loginCase{"kept elsewhere", "moved", "movedpw", 401, 401}
			if k.why == "" {
				logins(t, c, []loginCase{{"right", "alice", "alicepw", 200, 200}, moved})
				return
			}
			logins(t, c, []loginCase{{"referred", "alice", "alicepw", 503, 503}, moved, {"local", "admin", "admin", 200, 200}})
			toldWhy(t, c, k.why)
			toldWhy(t, c, "which is not followed; name that one in the url")
		})
	}
	// A bind it does not refer: who is kept elsewhere is unknown here.
	c := harness.Start(t, bin, ldapINI(s.plain, "userDnTemplate = \"uid={0},dc=example\""))
	c.Ctl("feature:install ctl-realm-ldap")
	logins(t, c, []loginCase{{"of another server", "alice", "alicepw", 401, 401}, {"local", "admin", "admin", 200, 200}})
}
