package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ctl.internal/internal/lab/simcli"
	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/lab/sshhost"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/test/harness"
)

// bierLab is a controller with BIER routers around it: NETCONF of both dialects,
// which find their driver by themselves, and command lines, which are told theirs.
type bierLab struct {
	t       *testing.T
	c       *controller
	up      sync.RWMutex // held while the controller is down
	netconf []*simrouter.Router
	cli     []*simcli.Router
	n       int
}

const bierNode = `{"input":{"topology-id":"lab","node-id":"r%d","domain":[{"domain-id":1,"bier-global":{"bitstringlength":"256-bit","bfr-id":%d,
"ipv4-bfr-prefix":"10.0.0.%d/32","sub-domain":[{"sub-domain-id":0,"igp-type":"ISIS","af":{"ipv4":[{"bitstringlength":256,"bier-mpls-label-base":1000,"bier-mpls-label-range-size":4}]}}]}}]}}`

// newBierLab has a star of n routers, r1 in the middle, configured and mounted.
func newBierLab(t *testing.T, n, later, cli int) *bierLab {
	t.Helper()
	l := &bierLab{t: t, c: start(t, harness.NewHome(t)), n: n}
	l.c.Ctl("feature:install ctl-bier-all ctl-bier-driver-cli")
	var topology strings.Builder
	topology.WriteString("topology-id: lab\nnode:\n")
	for i := range n {
		fmt.Fprintf(&topology, "- {node-id: r%d}\n", i+1)
	}
	topology.WriteString("link:\n")
	for i := 2; i <= n; i++ {
		fmt.Fprintf(&topology, "- {source: {source-node: r1, source-tp: e%d}, destination: {dest-node: r%d, dest-tp: e1}, bidirectional: true}\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "topology.yaml")
	if err := os.WriteFile(file, []byte(topology.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	l.c.Ctl("bier:topo-import " + file)
	l.must("bier-topology-api:configure-domain", `{"input":{"topology-id":"lab","domain":[1]}}`)
	for i := range n {
		var at *sshhost.Listener
		driver := ""
		if i < n-cli {
			o := simrouter.Options{}
			if i >= n-cli-later {
				o.Model = simrouter.RFC8349()
			}
			r, err := simrouter.Start(o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(r.Down)
			l.netconf, at = append(l.netconf, r), r.Listener
		} else {
			r, err := simcli.Start(sshhost.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(r.Down)
			l.cli, at, driver = append(l.cli, r), r.Listener, `,"driver":"bier-driver-cli"`
		}
		l.must("bier-topology-api:configure-node", fmt.Sprintf(bierNode, i+1, i+1, i+1))
		l.must("bier-service-api:mount-router", fmt.Sprintf(`{"input":{"node-id":"r%d","host":"%s","port":%d,"username":"lab","password":"lab"%s}}`, i+1, at.Host(), at.Port(), driver))
	}
	l.until("all routers are configured", func() string {
		for i := range n {
			if !strings.Contains(l.held(i+1), fmt.Sprintf("bfr-id %d\n", i+1)) {
				return fmt.Sprintf("r%d holds %s", i+1, l.held(i+1))
			}
		}
		return ""
	})
	return l
}

// post makes a call, again and again while the controller or the plugin is away.
func (l *bierLab) post(rpc, body string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		status, answer, err := l.once(ctx, rpc, body)
		if err == nil && status != http.StatusServiceUnavailable && status != http.StatusGatewayTimeout && status != http.StatusInternalServerError {
			return answer, nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return answer, fmt.Errorf("%s: %d %s, %v", rpc, status, answer, err)
		}
	}
}

func (l *bierLab) once(ctx context.Context, rpc, body string) (int, string, error) {
	l.up.RLock()
	url := l.c.HTTP + "/restconf/operations/" + rpc
	l.up.RUnlock()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.SetBasicAuth("admin", "admin")
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return res.StatusCode, string(text), err
}

func (l *bierLab) must(rpc, body string) string {
	l.t.Helper()
	out, err := l.post(rpc, body)
	if err != nil || strings.Contains(rpc, "configure") && !strings.Contains(out, "SUCCESS") {
		l.t.Fatalf("%s %s: %s, %v", rpc, body, out, err)
	}
	return out
}

// until waits for a condition that says what is missing.
func (l *bierLab) until(what string, missing func() string) {
	l.t.Helper()
	limit := time.NewTimer(4 * time.Minute)
	defer limit.Stop()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for last := missing(); last != ""; last = missing() {
		select {
		case <-again.C:
		case <-limit.C:
			l.t.Fatalf("never: %s: %s", what, last)
		}
	}
}

// held is what a router holds, one leaf a line, in the words of NETCONF.
func (l *bierLab) held(i int) string {
	if i > len(l.netconf) {
		return l.cli[i-1-len(l.netconf)].Config()
	}
	var b strings.Builder
	var walk func(n *xmltree.Node)
	walk = func(n *xmltree.Node) {
		if len(n.Kids) == 0 {
			fmt.Fprintf(&b, "%s %s\n", n.Name, n.Trimmed())
		}
		for _, k := range n.Kids {
			walk(k)
		}
	}
	walk(l.netconf[i-1].Config())
	return b.String()
}

// flows are the channels that a router holds: group → ingress and egress ids, sorted.
func (l *bierLab) flows(i int) map[string]string {
	out := map[string]string{}
	put := func(group, ingress string, egress []string) {
		slices.Sort(egress)
		out[group] = "ingress" + ingress + " egress" + strings.Join(egress, " egress") + " "
	}
	if i > len(l.netconf) {
		for _, section := range strings.Split(l.held(i), "!\n") {
			f := strings.Fields(section)
			if len(f) < 6 || f[0] != "multicast" {
				continue
			}
			ingress, egress := "", []string(nil)
			for k := 6; k+1 < len(f); k++ {
				switch f[k] {
				case "ingress":
					ingress = f[k+1]
				case "egress":
					egress = append(egress, f[k+1])
				}
			}
			put(f[4], ingress, egress)
		}
		return out
	}
	for _, m := range l.netconf[i-1].Config().All(simrouter.NSMulticast, "multicast-information") {
		for _, e := range m.Down("pure-multicast").All(simrouter.NSMulticast, "pure-multicast") {
			info := e.Down("multicast-overlay", "bier-information")
			var egress []string
			for _, x := range info.All(simrouter.NSMulticast, "egress-nodes") {
				egress = append(egress, x.Value("egress-node"))
			}
			put(e.Value("group-address"), info.Value("ingress-node"), egress)
		}
	}
	return out
}

// deployment is a channel: from an ingress to two egresses, all by number.
type deployment struct{ ingress, a, b int }

func (d deployment) on(i int) string {
	ids := []string{fmt.Sprintf("egress%d ", d.a), fmt.Sprintf("egress%d ", d.b)}
	slices.Sort(ids)
	head := fmt.Sprintf("ingress%d ", d.ingress)
	switch i {
	case d.ingress:
		return head + ids[0] + ids[1]
	case d.a, d.b:
		return head + fmt.Sprintf("egress%d ", i)
	}
	return ""
}

// wrong says which router does not hold exactly the deployments, "" when all do.
func (l *bierLab) wrong(all []deployment) string {
	for i := 1; i <= l.n; i++ {
		want := map[string]string{}
		for k, d := range all {
			if text := d.on(i); text != "" {
				want[group(k)] = text
			}
		}
		have := l.flows(i)
		if fmt.Sprint(have) != fmt.Sprint(want) {
			for g := range want {
				if have[g] != want[g] {
					return fmt.Sprintf("r%d holds %d channels, must hold %d; %s is %q, must be %q", i, len(have), len(want), g, have[g], want[g])
				}
			}
			return fmt.Sprintf("r%d holds %d channels, must hold %d", i, len(have), len(want))
		}
	}
	return ""
}

func group(k int) string { return fmt.Sprintf("232.1.%d.%d", k/250, 1+k%250) }

// Each BIER process, and the controller itself, is killed in the middle of 200
// deployments to routers of three kinds. Users repeat calls that were not answered.
// In the end every router holds exactly what was deployed.
func TestNothingIsLostWhenBierProcessesAreKilled(t *testing.T) {
	l := newBierLab(t, 10, 2, 2)
	const channels, users = 200, 6
	victims := []string{"bier-driver-ietf", "bier-channel", "bier-service", "bier-topomanager", "bier-driver-cli", "ctld"}
	all := make([]deployment, channels)
	for k := range all {
		all[k] = deployment{1 + k%10, 1 + (k+1+k/10%4)%10, 1 + (k+6+k/40%3)%10}
	}
	var next, done atomic.Int64
	milestone := make(chan int64, channels)
	var group sync.WaitGroup
	for range users {
		group.Go(func() {
			for k := next.Add(1) - 1; k < channels; k = next.Add(1) - 1 {
				if err := l.deploy(int(k), all[k]); err != nil {
					t.Error(err)
					return
				}
				milestone <- done.Add(1)
			}
		})
	}
	go func() { group.Wait(); close(milestone) }()
	kills := 0
	for n := range milestone {
		if kills < len(victims) && n >= int64((kills+1)*channels/(len(victims)+1)) {
			l.kill(victims[kills])
			kills++
		}
	}
	if kills != len(victims) || t.Failed() {
		t.Fatalf("%d of %d killed", kills, len(victims))
	}
	l.until("every router holds exactly what was deployed", func() string { return l.wrong(all) })
	var out struct {
		Output struct {
			Router []struct {
				Node  string `json:"node-id"`
				State string `json:"state"`
			} `json:"router"`
		} `json:"output"`
	}
	l.until("the controller knows it", func() string {
		text := l.must("bier-service-api:reconcile", `{"input":{"wait":5000}}`)
		if err := json.Unmarshal([]byte(text), &out); err != nil || len(out.Output.Router) != l.n || strings.Count(text, `"applied"`) != l.n {
			return text
		}
		return ""
	})
	// A redeployment and a removal afterwards are exact as well.
	all[0] = deployment{all[0].a, all[0].ingress, all[0].b}
	if err := l.deploy(0, all[0]); err != nil {
		t.Fatal(err)
	}
	for k := 1; k < channels; k++ {
		if out, err := l.post("bier-channel-api:remove-channel", fmt.Sprintf(`{"input":{"topology-id":"lab","channel-name":"c%d"}}`, k)); err != nil || !strings.Contains(out, "SUCCESS") {
			t.Fatalf("%s, %v", out, err)
		}
	}
	l.until("only what is deployed is left", func() string { return l.wrong(all[:1]) })
}

// deploy adds a channel and deploys it, as a user who repeats what was not answered.
func (l *bierLab) deploy(k int, d deployment) error {
	out, err := l.post("bier-channel-api:add-channel", fmt.Sprintf(`{"input":{"topology-id":"lab","name":"c%d","src-ip":"10.9.9.9","dst-group":"%s","domain-id":1,"sub-domain-id":0,"source-wildcard":32,"group-wildcard":32}}`, k, group(k)))
	if err != nil || !strings.Contains(out, "SUCCESS") && !strings.Contains(out, "exists already") {
		return fmt.Errorf("add c%d: %s, %w", k, out, err)
	}
	out, err = l.post("bier-channel-api:deploy-channel", fmt.Sprintf(`{"input":{"topology-id":"lab","channel-name":"c%d","ingress-node":"r%d","egress-node":[{"node-id":"r%d"},{"node-id":"r%d"}]}}`, k, d.ingress, d.a, d.b))
	if err != nil || !strings.Contains(out, "SUCCESS") {
		return fmt.Errorf("deploy c%d: %s, %w", k, out, err)
	}
	return nil
}

// kill is kill -9 of a plugin's process, or of the controller, which is started again.
func (l *bierLab) kill(what string) {
	l.t.Helper()
	if what == "ctld" {
		l.up.Lock()
		defer l.up.Unlock()
		l.c.Kill()
		l.c.Launch()
		return
	}
	l.until("process of "+what, func() string {
		pid := l.c.pid(what)
		if pid <= 0 {
			return "it has none"
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return err.Error()
		}
		return ""
	})
}

// The password of a router that is mounted in the configuration tree works, is never
// shown, and does not lie in clear on the disk.
func TestPasswordsOfMountedRoutersAreSealed(t *testing.T) {
	sim, err := simrouter.Start(simrouter.Options{Password: "hunter2-of-the-router"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Down)
	c := start(t, harness.NewHome(t))
	c.Ctl("feature:install ctl-bier-driver ctl-bier-service-cli ctl-bier-topomanager-rest ctl-bier-topomanager-cli")
	const node = "/network-topology:network-topology/topology/topology-netconf/node/r1"
	body := func(password string) string {
		return fmt.Sprintf(`{"node":[{"node-id":"r1","netconf-node-topology:host":"%s","netconf-node-topology:port":%d,"netconf-node-topology:username":"lab","netconf-node-topology:password":"%s"}]}`,
			sim.Host(), sim.Port(), password)
	}
	if a := c.Do("PUT", "/restconf/config"+node, admin, body("hunter2-of-the-router")); a.Status != http.StatusOK && a.Status != http.StatusCreated {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	for _, path := range []string{"/restconf/config" + node, "/restconf/config/network-topology:network-topology", "/rests/data", "/rests/data/network-topology:network-topology",
		"/restconf/config" + node + "/netconf-node-topology:password"} {
		if a := c.Do("GET", path, admin, ""); a.Status != http.StatusOK || strings.Contains(a.Body, "hunter2") || !strings.Contains(a.Body, `"**********"`) {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
	// Who writes back what was shown keeps the password; for a router that has none the mask is refused.
	if a := c.Do("PUT", "/restconf/config"+node, admin, body("**********")); a.Status != http.StatusOK && a.Status != http.StatusNoContent {
		t.Errorf("the mask in place of the password: %d %s", a.Status, a.Body)
	}
	other := strings.Replace(body("**********"), `"r1"`, `"r2"`, 1)
	if a := c.Do("PUT", "/restconf/config"+strings.Replace(node, "r1", "r2", 1), admin, other); a.Status != http.StatusBadRequest || !strings.Contains(a.Body, "secret") {
		t.Errorf("the mask as a password: %d %s", a.Status, a.Body)
	}
	// It works: the router is configured with it, also after a restart.
	file := filepath.Join(t.TempDir(), "topology.yaml")
	if err := os.WriteFile(file, []byte("topology-id: lab\nnode: [{node-id: r1}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Ctl("bier:topo-import " + file)
	l := &bierLab{t: t, c: c, n: 1, netconf: []*simrouter.Router{sim}}
	l.must("bier-topology-api:configure-domain", `{"input":{"topology-id":"lab","domain":[1]}}`)
	l.must("bier-topology-api:configure-node", fmt.Sprintf(bierNode, 1, 1, 1))
	configured := func() string {
		if !strings.Contains(l.held(1), "bfr-id 1\n") {
			return l.held(1)
		}
		return ""
	}
	l.until("the router is configured", configured)
	c.Restart()
	sim.Drop()
	if err := sim.Change(xmltree.New("", "", xmltree.New(simrouter.NSRoutingEx, "routing").With("urn:ietf:params:xml:ns:netconf:base:1.0", "operation", "remove"))); err != nil {
		t.Fatal(err)
	}
	l.until("the router is repaired", configured)
	c.Stop()
	_ = filepath.WalkDir(c.Home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), "hunter2") {
			t.Errorf("the password lies in clear in %s", path)
		}
		return nil
	})
}
