//go:build peers

package openflowpeers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// controller is a real ctld with the plugin as a process of its own.
type controller struct {
	t         *testing.T
	bin, home string
	cmd       *exec.Cmd
	out       bytes.Buffer
}

func newController(t *testing.T, plugins ...string) *controller {
	t.Helper()
	base, err := os.MkdirTemp("", "ofc") // short: it is part of the sockets' paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	c := &controller{t: t, bin: filepath.Join(base, "bin"), home: filepath.Join(base, "home")}
	for out, packages := range map[string][]string{c.bin + "/": {"./host/ctld", "./host/ctl"}, c.bin + "/plugins/": plugins} {
		if err := os.MkdirAll(out, 0o755); err != nil {
			t.Fatal(err)
		}
		b := exec.Command("go", append([]string{"build", "-o", out}, packages...)...)
		b.Dir = root
		if text, err := b.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	c.start()
	t.Cleanup(c.stop)
	return c
}

func (c *controller) start() {
	c.t.Helper()
	c.cmd = exec.Command(filepath.Join(c.bin, "ctld"), "--home", c.home, "--http", "127.0.0.1:0", "--ssh", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	c.cmd.Env = append(os.Environ(), "CTL_ADMIN_PASSWORD=admin", "CTL_USER_PASSWORD=user")
	c.cmd.Stderr = &c.out
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	r := bufio.NewScanner(stdout)
	for r.Scan() {
		if strings.Contains(r.Text(), "console: ctl") {
			return
		}
	}
	c.t.Fatalf("ctld ended: %s", c.out.String())
}

func (c *controller) stop() {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err == nil {
		_ = c.cmd.Wait()
	}
}

// ctl runs a line of the console.
func (c *controller) ctl(line string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(c.bin, "ctl"), "--home", c.home, line).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// links reads the topology as a REST client does: link-id to destination.
func (c *controller) links(ctx context.Context) map[string]string {
	c.t.Helper()
	addr, err := os.ReadFile(filepath.Join(c.home, "data", "run", "http.addr"))
	if err != nil {
		c.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"http://"+strings.TrimSpace(string(addr))+"/restconf/operational/network-topology:network-topology/topology/flow:1", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	req.SetBasicAuth("admin", "admin")
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
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
	if res.StatusCode == http.StatusNotFound {
		return nil
	}
	if err := json.Unmarshal(raw, &doc); err != nil || len(doc.Topology) != 1 {
		c.t.Fatalf("%d %v: %s", res.StatusCode, err, raw)
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
	ctx, cancel := context.WithTimeout(c.t.Context(), 60*time.Second)
	defer cancel()
	for {
		got := c.links(ctx)
		same := len(got) == len(want)
		for from, to := range want {
			same = same && got[from] == to
		}
		if same {
			return
		}
		if ctx.Err() != nil {
			c.t.Fatalf("%s: links are %v, want %v\n%s", when, got, want, c.out.String())
		}
	}
}

// The topology as REST clients see it, while the plugin is killed, the controller
// started anew and the feature removed; cables are cut while nobody looks.
func TestController(t *testing.T) {
	listen := freePort(t)
	r := newRing(t, 4, "tcp:"+listen)
	c := newController(t, "./plugins/openflow")
	if err := os.WriteFile(filepath.Join(c.home, "etc", "openflow.yaml"), []byte("listen: "+listen+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.ctl("feature:install ctl-restconf ctl-openflow")
	r.lab("up")
	c.until("after the start", r.want())

	var plugins []struct {
		Name string `json:"name"`
		PID  int    `json:"pid"`
	}
	if err := json.Unmarshal([]byte(c.ctl("plugin:list --format json")), &plugins); err != nil || len(plugins) != 1 {
		t.Fatalf("%v: %v", err, plugins)
	}
	if err := syscall.Kill(plugins[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.lab("link", "2", "down")
	c.until("after the plugin was killed and cable 2 cut", r.want(2))

	c.stop()
	r.lab("link", "2", "up")
	r.lab("link", "3", "down")
	c.start()
	c.until("after the controller was restarted and cable 3 cut", r.want(3))

	c.ctl("feature:uninstall ctl-openflow")
	for i := 1; i <= 4; i++ {
		if flows := r.ofctl("dump-flows", i); strings.Contains(flows, mark) {
			t.Errorf("switch %d still has rules:\n%s", i, flows)
		}
	}
	c.until("after the feature was removed", nil)
}
