//go:build peers

package openflowpeers

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctl.internal/test/harness"
)

// controller is a real ctld with the plugin as a process of its own.
type controller struct {
	*harness.Controller
	t *testing.T
}

func newController(t *testing.T, listen string) *controller {
	t.Helper()
	bin := t.TempDir()
	if out, err := harness.Build(root, bin); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return &controller{harness.Start(t, bin, map[string]string{"openflow.yaml": "listen: " + listen + "\n"}), t}
}

// links reads the topology as a REST client does: link-id to destination.
func (c *controller) links() map[string]string {
	c.t.Helper()
	status, raw, err := c.Get("/restconf/operational/network-topology:network-topology/topology/flow:1", "admin", "admin")
	if err != nil {
		c.t.Fatal(err)
	}
	var doc struct {
		Topology []struct {
			Link []struct {
				ID   string `json:"link-id"`
				Dest struct {
					TP string `json:"dest-tp"`
				} `json:"destination"`
			} `json:"link"`
		} `json:"topology"`
	}
	if status == http.StatusNotFound {
		return nil
	}
	if err := json.Unmarshal([]byte(raw), &doc); err != nil || len(doc.Topology) != 1 {
		c.t.Fatalf("%d %v: %s", status, err, raw)
	}
	out := map[string]string{}
	for _, l := range doc.Topology[0].Link {
		out[l.ID] = l.Dest.TP
	}
	return out
}

// until reads the topology until it has exactly these links.
func (c *controller) until(when string, want map[string]string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 3*time.Minute)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for ; ; <-again.C {
		got := c.links()
		same := len(got) == len(want)
		for from, to := range want {
			same = same && got[from] == to
		}
		if same {
			return
		}
		if ctx.Err() != nil {
			c.t.Fatalf("%s: links are %v, want %v", when, got, want)
		}
	}
}

// The topology as REST clients see it, while the plugin is killed, the controller
// started again and the feature removed; cables are cut while it is away.
func TestController(t *testing.T) {
	listen := freePort(t)
	r := newRing(t, 4, "tcp:"+listen)
	c := newController(t, listen)
	c.Ctl("feature:install ctl-restconf ctl-openflow")
	r.lab("up")
	c.until("after the start", r.want())

	var plugins []struct {
		Name string `json:"name"`
		PID  int    `json:"pid"`
	}
	if err := json.Unmarshal([]byte(c.Ctl("plugin:list --format json")), &plugins); err != nil || len(plugins) != 1 {
		t.Fatalf("%v: %v", err, plugins)
	}
	if err := syscall.Kill(plugins[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.lab("link", "2", "down")
	c.until("after the plugin was killed and cable 2 cut", r.want(2))

	c.Restart(func() {
		r.lab("link", "2", "up")
		r.lab("link", "3", "down")
	})
	c.until("after the controller was restarted and cable 3 cut", r.want(3))

	c.Ctl("feature:uninstall ctl-openflow")
	for i := 1; i <= 4; i++ {
		if flows := r.ofctl("dump-flows", i); strings.Contains(flows, mark) {
			t.Errorf("switch %d still has rules:\n%s", i, flows)
		}
	}
	c.until("after the feature was removed", nil)
}
