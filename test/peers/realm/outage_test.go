//go:build peers

package realmpeers

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"ctl.internal/test/harness"
)

func TestSlapdHasTheNameOfAnother(t *testing.T) {
	cert, key := certificate(t, "127.0.0.9")
	s := startSlapd(t, cert, key, 0)
	c := harness.Start(t, bin, keystores(t, ldapINI(s.secure, "")))
	c.Ctl("feature:install ctl-realm-ldap ctl-aaa-cert")
	trust(t, c, cert)
	logins(t, c, []loginCase{{"right", "alice", "alicepw", 503, 503}, {"local", "admin", "admin", 200, 200}})
	toldWhy(t, c, "certificate is valid for 127.0.0.9, not 127.0.0.1")
}

func TestSlapdGoesHangsAndComes(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	s := startSlapd(t, cert, key, 0)
	c := harness.Start(t, bin, uncached(ldapINI(s.plain, "timeout = 1500\nconnectTimeout = 1500")))
	c.Ctl("feature:install ctl-realm-ldap")
	away := []loginCase{{"away", "alice", "alicepw", 503, 503}, {"local", "admin", "admin", 200, 200}, {"local too", "user", "user", 200, 401}}
	eventually(t, c, "alice", "alicepw", 200)

	s.pause(t)
	var wg sync.WaitGroup
	for range 16 { // more than one, so that connections are held
		wg.Go(func() { logins(t, c, away[:1]) })
	}
	logins(t, c, away[1:])
	wg.Wait()
	toldWhy(t, c, "")
	s.resume(t)
	eventually(t, c, "alice", "alicepw", 200) // what was unavailable is not kept as a refusal

	s.kill()
	logins(t, c, away)
	s.start(t)
	eventually(t, c, "alice", "alicepw", 200)
}

func TestSlapdIsRestartedWhileUsersLogIn(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	s := startSlapd(t, cert, key, 0)
	c := harness.Start(t, bin, uncached(ldapINI(s.plain, "")))
	c.Ctl("feature:install ctl-realm-ldap")
	whileTheyLogIn(t, c, "alice", "alicepw", func() {
		for range 2 {
			s.kill()
			s.start(t)
			logins(t, c, []loginCase{{"as soon as it is back", "bob", "bobpw", 200, 401}}) // alice may share the fate of one who asked before
		}
	})
}

func TestAnotherSlapdTakesOver(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	hangs, serves := startSlapd(t, cert, key, 0), startSlapd(t, cert, key, 0)
	hangs.pause(t)
	urls := fmt.Sprintf("\"ldap://127.0.0.1:%d, %s %s\"", free(t), hangs.plain, serves.plain)
	c := harness.Start(t, bin, uncached(ldapINI(urls, "timeout = 30000")))
	c.Ctl("feature:install ctl-realm-ldap")
	logins(t, c, []loginCase{{"by the third", "alice", "alicepw", 200, 200}, {"wrong", "alice", "x", 401, 401}})
	hangs.resume(t)
	serves.kill()
	logins(t, c, []loginCase{{"by the second", "bob", "bobpw", 200, 401}})
}

func TestKillingARealmCostsOtherUsersNothing(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	s := startSlapd(t, cert, key, 1000)
	files := uncached(ldapINI(s.plain, ""))
	// Users of another realm, which is asked after the one that dies; password "secret".
	files["sec.ini"] = strings.Replace(files["sec.ini"], ", $ldapRealm", ", $ldapRealm, $staticRealm", 1)
	users := make([]string, 32)
	for i := range users {
		users[i] = fmt.Sprintf(`"static%02d":"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"`, i)
	}
	files["sec.ini"] = strings.Replace(files["sec.ini"], "[main]\n", "[main]\nstaticRealm = StaticRealm\nstaticRealm.users = "+strings.Join(users, ", ")+"\n", 1)
	files["ctl.yaml"] += "  realmKinds: [StaticRealm]\n"
	files["../features.d/static.yaml"] = "name: static\nfeatures:\n- name: static\n  version: 1.0.0\n  description: users of sec.ini\n  depends: [ctl-aaa-sec]\n  plugins: [{name: realm-static}]\n"
	c := harness.Start(t, bin, files)
	c.Ctl("feature:install ctl-realm-ldap static")
	logins(t, c, []loginCase{{"right", "alice", "alicepw", 200, 200}, {"static", "static00", "secret", 200, 401}})
	pid := pluginPID(t, c, "realm-ldap")
	var wg sync.WaitGroup
	begun := make(chan struct{}, 64)
	for i := range 64 {
		wg.Go(func() {
			for round := range 8 {
				user, password, also := fmt.Sprintf("static%02d", i/2), "secret", 200
				switch {
				case i%2 == 1: // its own users may be refused while it is away
					user, password, also = fmt.Sprintf("user%05d", i*8+round), fmt.Sprintf("pw%05d", i*8+round), 503
				case i%8 == 0:
					user, password = "user", "user"
				}
				status, _, err := c.Get("/restconf/modules", user, password)
				if err != nil || status != 200 && status != also {
					t.Errorf("%s: %d %v", user, status, err)
				}
				if round == 0 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range 16 {
		<-begun
	}
	if p, err := os.FindProcess(pid); err != nil || p.Kill() != nil {
		t.Fatal("the plugin could not be killed")
	}
	wg.Wait()
	eventually(t, c, "bob", "bobpw", 200) // it is started again, and asked again
}
