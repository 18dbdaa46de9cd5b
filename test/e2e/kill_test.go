package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ctl.internal/test/harness"
)

// pid is the process of a plugin, 0 while it has none.
func (c *controller) pid(plugin string) int {
	c.t.Helper()
	out, err := exec.CommandContext(within(c.t), filepath.Join(bin, "ctl"), "--home", c.Home, "--format", "json", "plugin:list").Output()
	if err != nil {
		c.t.Fatal(err)
	}
	var list []struct {
		Name string `json:"name"`
		PID  int    `json:"pid"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
	for _, p := range list {
		if p.Name == plugin {
			return p.PID
		}
	}
	c.t.Fatalf("no plugin %s: %s", plugin, out)
	return 0
}

func TestNoReadFailsWhileThePluginIsKilled(t *testing.T) {
	c := start(t, harness.NewHome(t))
	c.Ctl("feature:install ctl-switch-all")
	const kills, reads = 3, 200
	for i := range reads {
		if i%(reads/kills) == reads/kills/2 {
			if pid := c.pid("switch"); pid > 0 {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
		}
		a := c.Do("POST", "/restconf/operations/topology:get-node-list", admin, "")
		if a.Status != http.StatusOK {
			t.Fatalf("read %d: %d %s", i, a.Status, a.Body)
		}
	}
}

func TestKilledControllerStartsAgainAtOnce(t *testing.T) {
	c := start(t, harness.NewHome(t))
	c.Ctl("feature:install ctl-switch-all")
	if a := c.Do("POST", "/auth/v1/users", admin, `{"name":"ann","password":"a long one","domainid":"sdn"}`); a.Status != http.StatusCreated {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	c.Kill()
	c.Launch()
	if a := c.Do("GET", "/auth/v1/users/ann@sdn", admin, ""); a.Status != http.StatusOK {
		t.Errorf("an acknowledged user is lost: %d %s", a.Status, a.Body)
	}
	if a := c.Do("POST", "/restconf/operations/topology:get-node-list", admin, ""); a.Status != http.StatusOK {
		t.Errorf("the plugin does not serve: %d %s", a.Status, a.Body)
	}
	run := filepath.Join(c.Home, "data", "run", "plugins")
	if _, err := os.Stat(run); err != nil {
		t.Logf("the sockets lie elsewhere, for the home's path is long: %v", err)
	} else if left, _ := filepath.Glob(filepath.Join(run, "switch", "p*")); len(left) != 1 {
		t.Errorf("left over: %v", left)
	}
	if out, code := harness.Refused(t, harness.Options{Bin: bin, Home: c.Home}); code == 0 || !strings.Contains(out, "in use") {
		t.Errorf("a second controller on the home: %d %s", code, out)
	}
}
