package bier

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ctl.internal/sdk"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/plugintest"

	bierservice "ctl.internal/plugins/bier-service"
)

const treeNode = "/network-topology:network-topology/topology=topology-netconf/node="

// configured is a lab with domain 1 and nodes 1 to n in its sub-domain 1.
func configured(t *testing.T, n int) *lab {
	t.Helper()
	l := newLab(t)
	l.configure(n)
	return l
}

// configure makes domain 1 and puts nodes 1 to n into its sub-domain 1.
func (l *lab) configure(n int) {
	l.t.Helper()
	l.network()
	l.must("bier-topology-api:configure-domain", `{"input":{"topology-id":"flow:1","domain":[1]}}`)
	l.must("bier-topology-api:configure-subdomain", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain":[1]}}`)
	for i := 1; i <= n; i++ {
		l.must("bier-topology-api:configure-node", node(i, 1, 1, i, 100, 200, "ISIS"))
	}
}

// putTree writes into a configuration tree as a user does; nil deletes.
func (l *lab) putTree(path string, value []byte) error {
	_, err := l.host.Client(l.t, nil).Datastore.Commit(l.ctx(), host.Txn{Ops: []host.Op{{Space: host.Tree, Key: path, Value: value, Delete: value == nil}}})
	return err
}

func (l *lab) mount(n int) {
	l.t.Helper()
	for i := 1; i <= n; i++ {
		l.must("bier-service-api:mount-router", fmt.Sprintf(`{"input":{"node-id":"%d","host":"192.0.2.%d","username":"u","password":"hunter2"}}`, i, i))
	}
}

// A router that is put into topology-netconf is configured; one that is taken out
// is left as it is.
func TestRoutersOfTheConfigurationTree(t *testing.T) {
	l := configured(t, 2)
	if err := l.putTree(treeNode+"2", []byte(`{"node-id":"2","netconf-node-topology:host":"192.0.2.2","netconf-node-topology:port":17830,"netconf-node-topology:username":"admin"}`)); err != nil {
		t.Fatal(err)
	}
	l.until("node 2 is configured", func() bool { return l.routers.Config("2").Global.GetBfrId() == 2 })
	if err := l.putTree(treeNode+"2", nil); err != nil {
		t.Fatal(err)
	}
	l.until("node 2 is not mounted", func() bool {
		return strings.Contains(l.must("bier-service-api:reconcile", `{"input":{"node-id":"2"}}`), "no router is mounted as 2")
	})
	if l.routers.Config("2").Global.GetBfrId() != 2 {
		t.Error("unmounting took the configuration from the router")
	}
}

// A router that is mounted in the form of OpenDaylight's guide is configured, and what cannot be used is refused.
func TestRoutersOfTheContainerForm(t *testing.T) {
	l := configured(t, 2)
	const body = `{"node-id":"2","netconf-node-topology:netconf-node":{"host":"192.0.2.2","port":17830,"tcp-only":false,` +
		`"login-password-unencrypted":{"username":"admin","password":"hunter2"}}}`
	if err := l.putTree(treeNode+"2", []byte(body)); err != nil {
		t.Fatal(err)
	}
	l.until("node 2 is configured", func() bool { return l.routers.Config("2").Global.GetBfrId() == 2 })
	for wrong, says := range map[string]string{
		`{"node-id":"1","netconf-node-topology:port":1,"netconf-node-topology:netconf-node":{"host":"192.0.2.1"}}`:                      "one of the two forms",
		`{"node-id":"1","netconf-node-topology:netconf-node":{"host":"192.0.2.1","login-password":{"username":"u","password":"cA=="}}}`: "login-password-unencrypted",
		`{"node-id":"1","netconf-node-topology:netconf-node":{"host":"192.0.2.1","key-based":{"username":"u","key-id":"k"}}}`:           "private-key",
		`{"node-id":"1","netconf-node-topology:netconf-node":{"host":"192.0.2.1","protocol":{"name":"TLS","key-id":["a"]}}}`:            "TLS",
		`{"node-id":"1","netconf-node-topology:netconf-node":{"host":"192.0.2.1","login-password-unencrypted":{"password":"hunter2"}}}`: "username is missing",
	} {
		if err := l.putTree(treeNode+"1", []byte(wrong)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", wrong, err, says)
		}
	}
}

// Of a router that was never asked nothing is known: it is not said to hold what it must.
func TestARouterThatWasNeverAskedIsNotApplied(t *testing.T) {
	l := configured(t, 0)
	l.must("bier-service-api:mount-router", `{"input":{"node-id":"7","host":"192.0.2.7","username":"u","password":"hunter2","driver":"absent"}}`)
	if said := l.run("bier-service", "bier:session-list", nil); !strings.Contains(said, "none") || !strings.Contains(said, "nothing asked") || strings.Contains(said, "applied") ||
		!strings.Contains(said, "is not installed; ") {
		t.Error(said)
	}
}

// Routers that cannot be reached are pending, and get what they must hold when they
// return; the answer says so.
func TestDeploymentTellsWhoHasItYet(t *testing.T) {
	l := configured(t, 4)
	l.mount(4)
	l.routers.Up("3", false)
	l.routers.Refuse("4", "access denied by NACM")
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	out := l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"2"},{"node-id":"3"},{"node-id":"4"}]}}`)
	for _, want := range []string{`"node-id":"1","role":"ingress","state":"applied"`, `"node-id":"2","role":"egress","state":"applied"`,
		`"node-id":"3","role":"egress","state":"pending"`, `"node-id":"4","role":"egress","state":"failed","reason":"access denied by NACM"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\n  want %s", out, want)
		}
	}
	l.routers.Up("3", true)
	l.until("node 3 has it", func() bool { return len(l.routers.Config("3").Channels) == 1 })
	l.until("query-channel shows it", func() bool {
		return strings.Contains(l.must("bier-channel-api:query-channel", `{"input":{"channel-name":"tv"}}`), `"node-id":"3","role":"egress","state":"applied"`)
	})
}

// A redeployment touches only the routers it must.
func TestRedeploymentTouchesOnlyWhomItMust(t *testing.T) {
	l := configured(t, 7)
	l.mount(7)
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"2"},{"node-id":"3"}]}}`)
	l.until("all routers are configured, those without the channel too", func() bool {
		return strings.Count(l.must("bier-service-api:reconcile", `{"input":{"wait":5000}}`), `"state":"applied"`) == 7
	})
	before := map[string]int{}
	for _, id := range l.routers.IDs() {
		_, before[id] = l.routers.Counts(id) // edits: a router whose session came up a moment ago is compared too
	}
	l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"2"},{"node-id":"3"},{"node-id":"7"}]}}`)
	for _, id := range l.routers.IDs() {
		_, now := l.routers.Counts(id)
		if touched, must := now != before[id], id == "1" || id == "7"; touched != must {
			t.Errorf("node %s: touched %v, want %v", id, touched, must)
		}
	}
}

// A changed BFR-id reaches the routers of the channels that use it.
func TestChangedBFRIDRedeploysChannels(t *testing.T) {
	l := configured(t, 3)
	l.mount(3)
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"2"},{"node-id":"3"}]}}`)
	l.must("bier-topology-api:configure-node", node(3, 1, 1, 33, 100, 200, "ISIS"))
	l.until("the ingress sends to 33", func() bool {
		c := l.routers.Config("1").Channels
		return len(c) == 1 && fmt.Sprint(c[0].EgressBfrIds) == "[2 33]"
	})
}

// What a new process finds: mounts, and routers that must lose what they hold.
func TestNewProcessGoesOn(t *testing.T) {
	l := configured(t, 3)
	l.mount(3)
	l.must("bier-service-api:reconcile", `{"input":{"wait":5000}}`)
	l.plugins["bier-service"].Stop()
	l.must("bier-topology-api:delete-node", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":1,"node-id":"3"}}`)
	l.start("bier-service", bierservice.Options(), configs["bier-service"])
	l.until("node 3 lost it", func() bool { return l.routers.Config("3").Global == nil })
	if l.routers.Config("2").Global == nil {
		t.Error("node 2 lost it too")
	}
}

// A driver that comes later, and one that is chosen by name.
func TestDriverIsChosenByFitOrName(t *testing.T) {
	l := configured(t, 2)
	second := newMemoryRouters()
	second.Description.Probes = false
	plugintest.Start(t, sdk.Options{Manifest: []byte("name: second\nversion: 1.0.0\nsummary: Another\ncapabilities: [bierdriver]\n"),
		New: func(context.Context, *sdk.Env) (*sdk.Plugin, error) { return &sdk.Plugin{BierDriver: second}, nil }}, plugintest.WithHost(l.host))
	l.must("bier-service-api:mount-router", `{"input":{"node-id":"1","host":"192.0.2.1"}}`)
	l.must("bier-service-api:mount-router", `{"input":{"node-id":"2","host":"192.0.2.2","driver":"second"}}`)
	l.until("each has its own", func() bool {
		return l.routers.Config("1").Global != nil && second.Config("2").Global != nil
	})
	if l.routers.Config("2").Global != nil || second.Config("1").Global != nil {
		t.Error("a router was configured by the other driver")
	}
}

// Notifications of routers and changes by others are reported and repaired.
func TestReports(t *testing.T) {
	l := configured(t, 1)
	l.mount(1)
	l.until("node 1 is configured", func() bool { return l.routers.Config("1").Global != nil })
	l.routers.Notify("1", &bierdriver.Notification{Kind: bierdriver.BFRIDCollision, BfrId: 7})
	l.routers.Touch("1", "mallory", func(c *bierdriver.Config) { c.Global.BfrId = 99 })
	l.until("it is repaired", func() bool { return l.routers.Config("1").Global.GetBfrId() == 1 })
	want := map[string]bool{"bfr-id 7": true, "mallory": true}
	for n := 0; len(want) > 0; {
		events, err := l.host.Events(l.ctx(), n)
		if err != nil {
			t.Fatalf("never reported: %v", want)
		}
		n += len(events)
		for _, e := range events {
			for w := range want {
				if e.Stream == "bier-service" && strings.Contains(string(e.Data), w) {
					delete(want, w)
				}
			}
		}
	}
}

// No secret is in what is stored or reported.
func TestPasswordsAreSealed(t *testing.T) {
	l := configured(t, 1)
	l.mount(1)
	for e, err := range l.host.Client(t, l.plugins["bier-service"].Manifest).Datastore.Range(l.ctx(), host.Private, "") {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(e.Value), "hunter2") {
			t.Errorf("the password lies in clear at %s", e.Key)
		}
	}
}

// portDriver is a driver of the routers at one port.
type portDriver struct {
	*memoryRouters
	port uint32
}

func (p portDriver) Probe(ctx context.Context, r *bierdriver.Router) (*bierdriver.Probe, error) {
	if r.Port != p.port {
		return &bierdriver.Probe{Reached: true, Reason: "another kind of router"}, nil
	}
	return p.memoryRouters.Probe(ctx, r)
}

// At another port of the same address is another router: its driver is selected again.
func TestDriverIsChosenAnewAtAnotherPort(t *testing.T) {
	l := configured(t, 1)
	second := portDriver{newMemoryRouters(), 2222}
	second.Description.Priority = 5
	plugintest.Start(t, sdk.Options{Manifest: []byte("name: second\nversion: 1.0.0\nsummary: Another\ncapabilities: [bierdriver]\n"),
		New: func(context.Context, *sdk.Env) (*sdk.Plugin, error) { return &sdk.Plugin{BierDriver: second}, nil }}, plugintest.WithHost(l.host))
	l.must("bier-service-api:mount-router", `{"input":{"node-id":"1","host":"127.0.0.1","port":1111}}`)
	l.until("the router at the first port is configured", func() bool { return l.routers.Config("1").Global != nil })
	l.must("bier-service-api:mount-router", `{"input":{"node-id":"1","host":"127.0.0.1","port":2222}}`)
	l.until("the router at the second port is configured, by its own driver", func() bool { return second.Config("1").Global != nil })
}

// A router that is taken out of topology-netconf and put in again is another one: the
// host key that was trusted on first use is forgotten, as by unmount-router.
func TestTrustEndsWithTheMountOfTheTree(t *testing.T) {
	l := configured(t, 1)
	service := l.host.Client(t, l.plugins["bier-service"].Manifest).Datastore
	trusted := func() bool {
		_, err := service.Get(l.ctx(), host.Private, "host-key/1")
		return err == nil
	}
	put := func(port int) {
		if err := l.putTree(treeNode+"1", fmt.Appendf(nil, `{"node-id":"1","netconf-node-topology:host":"192.0.2.1","netconf-node-topology:port":%d}`, port)); err != nil {
			t.Fatal(err)
		}
	}
	put(830)
	l.until("its key is trusted", trusted)
	if err := l.putTree(treeNode+"1", nil); err != nil {
		t.Fatal(err)
	}
	l.until("its key is forgotten", func() bool { return !trusted() })
	put(831)
	l.until("the key of the next is trusted", trusted)
}

// A mount that can never work is refused when it is made, and says why.
func TestMountsThatCannotWork(t *testing.T) {
	l := newLab(t)
	for _, c := range []struct{ rpc, body, want string }{
		{"mount-router", `{"input":{}}`, "node-id is missing"},
		{"mount-router", `{"input":{"node-id":"1"}}`, "host is missing"},
		{"mount-router", `{"input":{"node-id":"1","host":"192.0.2.1","password":"hunter2"}}`, "username is missing"},
		{"mount-router", `{"input":{"node-id":"1","host":"192.0.2.1","username":"u","host-key":"rubbish"}}`, "host-key of router 1"},
		{"mount-router", `{"input":{"node-id":"1","host":"192.0.2.1","username":"u","private-key":"hunter2"}}`, "private-key of router 1"},
		{"unmount-router", `{"input":{}}`, "node-id is missing"},
		{"unmount-router", `{"input":{"node-id":"1"}}`, "no router is mounted as"},
	} {
		out := l.must("bier-service-api:"+c.rpc, c.body)
		if !strings.Contains(out, "FAILURE") || !strings.Contains(out, c.want) || strings.Contains(out, "hunter2") {
			t.Errorf("%s %s: %s, want %q", c.rpc, c.body, out, c.want)
		}
	}
}

// Two nodes of one topology cannot be one router: the second one is refused, whichever way it comes, and
// the name of the first is said.
func TestTwoNodesAreNotOneRouter(t *testing.T) {
	l := configured(t, 3)
	mount := func(node, host string, port int) string {
		return l.must("bier-service-api:mount-router", fmt.Sprintf(`{"input":{"node-id":"%s","host":"%s","port":%d,"username":"u","password":"hunter2"}}`, node, host, port))
	}
	if out := mount("3", "192.0.2.3", 830); !strings.Contains(out, "SUCCESS") {
		t.Fatal(out)
	}
	if out := mount("2", "192.0.2.3", 831); !strings.Contains(out, "SUCCESS") {
		t.Errorf("another port: %s", out)
	}
	for _, again := range []struct {
		host string
		port int
	}{{"192.0.2.3", 830}, {"192.0.2.3", 0}, {"::ffff:192.0.2.3", 830}} {
		if out := mount("2", again.host, again.port); !strings.Contains(out, "FAILURE") || !strings.Contains(out, "and so is node 3 of topology flow:1") || strings.Contains(out, "hunter2") {
			t.Errorf("%v: %s", again, out)
		}
	}
	if err := l.putTree(treeNode+"2", []byte(`{"node-id":"2","netconf-node-topology:host":"192.0.2.3"}`)); err == nil || !strings.Contains(err.Error(), "and so is node 3") {
		t.Errorf("the tree: %v", err)
	}
	// A mount of a node that is not configured is only a mount, until it is configured.
	if out := mount("5", "192.0.2.3", 830); !strings.Contains(out, "SUCCESS") {
		t.Errorf("a mount only: %s", out)
	}
	l.until("it is refused at configure-node", func() bool {
		out := l.must("bier-topology-api:configure-node", node(5, 1, 1, 5, 100, 200, "ISIS"))
		return strings.Contains(out, "FAILURE") && strings.Contains(out, "and so is node 3 of topology flow:1")
	})
	if l.routers.Config("5").Global != nil {
		t.Error("it was configured")
	}
}

// A router whose model has one sub-domain is refused a second one, also before it was ever reached, and
// keeps what it has.
func TestModelsWithOneSubDomain(t *testing.T) {
	l := newLab(t)
	l.routers.Description.Lacks = []string{"sub-domains"}
	l.configure(2)
	l.must("bier-topology-api:configure-subdomain", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain":[2]}}`)
	l.must("bier-service-api:mount-router", `{"input":{"node-id":"1","host":"192.0.2.1","driver":"driver"}}`)
	for range 2 {
		out := ""
		l.until("it is refused", func() bool {
			out = l.must("bier-topology-api:configure-node", node(1, 1, 2, 1, 300, 400, "ISIS"))
			return strings.Contains(out, "FAILURE")
		}, func() string { return out })
		if !strings.Contains(out, "node 1 would be in 2 sub-domains, but the model of this router has one") {
			t.Error(out)
		}
		l.until("it keeps the first", func() bool { return len(l.routers.Config("1").Global.GetSubDomains()) == 1 })
	}
	if out := l.must("bier-topology-api:configure-node", node(1, 1, 1, 1, 100, 200, "ISIS")); !strings.Contains(out, "SUCCESS") {
		t.Error(out)
	}
}
