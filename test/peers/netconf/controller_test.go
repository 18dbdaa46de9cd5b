//go:build peers

package netconfpeers

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ctl.internal/internal/netconf"
	"ctl.internal/test/harness"
)

// controller is a real ctld, each BIER plugin a process of its own, with the nodes r1
// to r3 in domain 1, r1 in the middle.
type controller struct {
	*harness.Controller
	t    *testing.T
	from string // the source of channels
}

const root = "../../.."

func newController(t *testing.T, files map[string]string, driver string) *controller {
	t.Helper()
	return newControllerOf(t, files, driver, []string{"r1 r2", "r1 r3"}, 1, 2, 3)
}

// newControllerOf has a topology of links, and the nodes r<member> in domain 1.
func newControllerOf(t *testing.T, files map[string]string, driver string, links []string, members ...int) *controller {
	t.Helper()
	bin := t.TempDir()
	if out, err := harness.Build(root, bin); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := &controller{harness.Start(t, bin, files), t, "10.9.9.9"}
	c.Ctl("feature:install ctl-bier-topomanager-rest ctl-bier-topomanager-cli ctl-bier-channel-rest ctl-bier-channel-cli ctl-bier-service-cli " + driverFeature(driver))
	c.importTopology(links)
	c.rpc("bier-topology-api:configure-domain", `{"topology-id":"lab","domain":[1]}`, "SUCCESS")
	for _, i := range members {
		c.rpc("bier-topology-api:configure-node", fmt.Sprintf(`{"topology-id":"lab","node-id":"r%d","domain":[{"domain-id":1,"bier-global":{"bitstringlength":"256-bit","bfr-id":%d,`+
			`"ipv4-bfr-prefix":"2.2.2.%d/32","sub-domain":[{"sub-domain-id":0,"igp-type":"ISIS","af":{"ipv4":[{"bitstringlength":256,"bier-mpls-label-base":1000,"bier-mpls-label-range-size":4}]}}]}}]}`, i, i, i), "SUCCESS")
	}
	return c
}

// importTopology has the controller know these links, and the nodes at their ends.
func (c *controller) importTopology(links []string) {
	c.t.Helper()
	text, nodes := "", map[string]bool{}
	for _, l := range links {
		a, b, _ := strings.Cut(l, " ")
		text += fmt.Sprintf("- {source: {source-node: %s, source-tp: to-%s}, destination: {dest-node: %s, dest-tp: to-%s}, bidirectional: true}\n", a, b, b, a)
		nodes[a], nodes[b] = true, true
	}
	file := filepath.Join(c.t.TempDir(), "topology.yaml")
	text = "topology-id: lab\nnode: [{node-id: " + strings.Join(slices.Sorted(maps.Keys(nodes)), "}, {node-id: ") + "}]\nlink:\n" + text
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.Ctl("bier:topo-import " + file)
}

func driverFeature(plugin string) string {
	if plugin == "bier-driver-cli" {
		return "ctl-bier-driver-cli"
	}
	return "ctl-bier-driver"
}

// rpc calls an RPC as a REST client does; the answer must have all that is wanted.
func (c *controller) rpc(name, input string, want ...string) string {
	c.t.Helper()
	_, body, err := c.Call(name, `{"input":`+input+`}`)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, w := range want {
		if !strings.Contains(body, w) {
			c.t.Fatalf("%s %s answered %s, want %s", name, input, body, w)
		}
	}
	return body
}

// mount says how a router is reached; more are further members, each with a comma before.
func (c *controller) mount(node string, to netconf.Target, more string) {
	c.t.Helper()
	key := ""
	if len(to.PrivateKey) > 0 {
		key = fmt.Sprintf(`,"private-key":%q`, to.PrivateKey)
	}
	c.rpc("bier-service-api:mount-router", fmt.Sprintf(`{"node-id":%q,"host":%q,"port":%d,"username":%q,"password":%q%s%s}`, node, to.Host, to.Port, to.User, to.Password, key, more), "SUCCESS")
}

// until waits for a condition that says what is missing.
func (c *controller) until(what string, missing func() string) {
	c.t.Helper()
	limit := time.NewTimer(2 * time.Minute)
	defer limit.Stop()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for last := missing(); last != ""; last = missing() {
		select {
		case <-again.C:
		case <-limit.C:
			c.t.Fatalf("never: %s: %s", what, last)
		}
	}
}

// is waits until a router is in a state, with words of its reason, and returns all.
func (c *controller) is(node, state string, words ...string) (shown string) {
	c.t.Helper()
	c.until(node+" is "+state, func() string {
		shown = c.rpc("bier-service-api:reconcile", fmt.Sprintf(`{"node-id":[%q],"wait":5000}`, node))
		for _, w := range append([]string{fmt.Sprintf(`"state":%q`, state)}, words...) {
			if !strings.Contains(shown, w) {
				return shown
			}
		}
		return ""
	})
	return shown
}

// logged waits until the controller has informed an operator.
func (c *controller) logged(words string) {
	c.t.Helper()
	c.until("the log has "+words, func() string {
		if log := c.Log(); !strings.Contains(log, words) {
			return tail(log, 2000)
		}
		return ""
	})
}

// deploy adds a channel and deploys it, and returns the answer.
func (c *controller) deploy(name, group, ingress string, egress ...string) string {
	c.t.Helper()
	c.rpc("bier-channel-api:add-channel", fmt.Sprintf(`{"topology-id":"lab","name":%q,"src-ip":%q,"dst-group":%q,"domain-id":1,"sub-domain-id":0,"source-wildcard":32,"group-wildcard":32}`, name, c.from, group), "SUCCESS")
	return c.redeploy(name, ingress, egress...)
}

func (c *controller) redeploy(name, ingress string, egress ...string) string {
	c.t.Helper()
	var nodes []string
	for _, e := range egress {
		nodes = append(nodes, fmt.Sprintf(`{"node-id":%q}`, e))
	}
	return c.rpc("bier-channel-api:deploy-channel", fmt.Sprintf(`{"topology-id":"lab","channel-name":%q,"ingress-node":%q,"egress-node":[%s]}`, name, ingress, strings.Join(nodes, ",")), "SUCCESS")
}
