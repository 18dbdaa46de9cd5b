//go:build peers

package realmpeers

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// pluginPID finds the process of a plugin among the controller's children.
func pluginPID(t *testing.T, c *harness.Controller, name string) int {
	t.Helper()
	for line := range strings.SplitSeq(c.Ctl("plugin:info "+name), "\n") {
		fields := strings.Fields(line)
		if len(fields) > 1 && strings.EqualFold(fields[0], "process") {
			pid, err := strconv.Atoi(strings.Trim(fields[1], ","))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatal("plugin:info names no process")
	return 0
}

func TestKillingARealmCostsOtherUsersNothing(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	s := startSlapd(t, cert, key, 1000)
	c := harness.Start(t, bin, ldapINI(s.plain, ""))
	c.Ctl("feature:install ctl-realm-ldap")
	logins(t, c, []loginCase{{"right", "alice", "alicepw", 200, 200}})
	pid := pluginPID(t, c, "realm-ldap")
	var wg sync.WaitGroup
	begun := make(chan struct{}, 64)
	failed := make(chan string, 64*8)
	for i := range 64 {
		wg.Go(func() {
			for round := range 8 {
				user, password := "admin", "admin" // of another realm
				if i%2 == 1 {
					n := i*8 + round
					user, password = fmt.Sprintf("user%05d", n), fmt.Sprintf("pw%05d", n)
				}
				status, _, err := c.Get("/restconf/modules", user, password)
				if err != nil || (status != 200 && (i%2 == 0 || status != 401)) {
					failed <- fmt.Sprintf("%s: %d %v", user, status, err)
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
	close(failed)
	for f := range failed {
		t.Error(f)
	}
	// It is started again, and asked again.
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range 300 {
		if status, _, _ := c.Get("/restconf/modules", "bob", "bobpw"); status == 200 {
			return
		}
		<-tick.C
	}
	t.Error("the realm did not come back")
}
