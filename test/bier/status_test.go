package bier

import (
	"fmt"
	"strings"
	"testing"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/bierdriver"
)

// run types a command of a plugin and returns what it shows.
func (l *lab) run(plugin, name string, options map[string]string, args ...string) string {
	l.t.Helper()
	text, err := l.plugins[plugin].Shell(l.ctx(), name, args, options)
	if err != nil {
		text += "error: " + err.Error()
	}
	return text
}

// on deploys the channel tv from node 1 to egress nodes.
func (l *lab) on(egress ...int) {
	l.t.Helper()
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	var list []string
	for _, e := range egress {
		list = append(list, fmt.Sprintf(`{"node-id":"%d"}`, e))
	}
	l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[`+strings.Join(list, ",")+`]}}`)
	l.shows("the channel is applied", `"state":"applied","egress-states":{"applied":`+fmt.Sprint(len(egress))+"}")
	l.until("all sessions are up", func() bool {
		said := l.must("bier-channel-api:query-channel", `{"input":{"channel-name":"tv"}}`)
		up := strings.Count(said, `"session":"up"`)
		return up > len(egress) && up == strings.Count(said, `"node-id":"`)-len(egress) // the egress nodes are listed twice
	})
	l.run("bier-service", "bier:router-sync", nil) // after it no comparison is on its way that a session began
}

// shows waits until query-channel says all of this.
func (l *lab) shows(what string, want ...string) {
	l.t.Helper()
	said := ""
	l.until(what, func() bool {
		said = l.must("bier-channel-api:query-channel", `{"input":{"channel-name":"tv"}}`)
		for _, w := range want {
			if !strings.Contains(said, w) {
				return false
			}
		}
		return true
	}, func() string { return said })
}

// alarms waits until get-alarms says all of this, or, when nothing is wanted, nothing.
func (l *lab) alarms(want ...string) {
	l.t.Helper()
	said := ""
	l.until(fmt.Sprint("alarms ", want), func() bool {
		said = l.must("bier-service-api:get-alarms", `{}`)
		for _, w := range want {
			if !strings.Contains(said, w) {
				return false
			}
		}
		return len(want) > 0 || said == "{}"
	}, func() string { return said })
}

// A router that is switched off leaves no channel applied; all that shows it says the same,
// names it, and goes back when it returns. The other egress nodes stay as they are.
func TestARouterThatIsOffLeavesNoChannelApplied(t *testing.T) {
	l := configured(t, 4)
	l.mount(4)
	l.on(2, 3, 4)
	l.alarms()
	if said := l.run("bier-topomanager", "bier:check", nil); strings.Contains(said, "error") {
		t.Error(said)
	}
	l.routers.Up("3", false)
	l.shows("router 3 is off", `"state":"unverified","egress-states":{"applied":2,"unverified":1}`, `"node-id":"3","role":"egress","state":"unverified","reason":"the session is down since`,
		`"bits":"0e"`, `"node-id":"4","role":"egress","state":"applied"`)
	l.alarms(`"resource":"router 3","alarm-type":"router-unreachable","severity":"major"`, `"resource":"channel flow:1 tv","alarm-type":"channel-degraded"`,
		"egress 3: 2 applied, 1 unverified (3: the session is down since")
	for name, c := range map[string][]string{"bier:check": {"bier-topomanager"}, "bier:channel-show": {"bier-channel", "tv"}, "bier:alarm-list": {"bier-service"}, "bier:session-list": {"bier-service"}} {
		if said := l.run(c[0], name, nil, c[1:]...); !strings.Contains(said, "unverified") || !strings.Contains(said, "the session is down") {
			t.Errorf("%s: %s", name, said)
		}
	}
	measured := ""
	l.until("the metrics say so", func() bool {
		r, err := pluginv1.NewBaseClient(l.plugins["bier-service"].Conn).Metrics(l.ctx(), &pluginv1.MetricsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		measured = string(r.Text)
		for _, want := range []string{`ctl_bier_routers{state="unverified"} 1`, `ctl_bier_channels{state="unverified"} 1`, `ctl_bier_sessions{state="down"} 1`, "ctl_bier_apply_seconds_count"} {
			if !strings.Contains(measured, want) {
				return false
			}
		}
		return true
	}, func() string { return measured })
	l.routers.Up("3", true)
	l.shows("router 3 is back", `"state":"applied","egress-states":{"applied":3}`)
	l.alarms()
	l.events(`"resource":"router 3"`, `"cleared":false`)
	l.events(`"resource":"router 3"`, `"cleared":true`)
}

// On the line 1, 2, 3 the router 2 only forwards; when it holds nothing, packets do not come to 3, and
// all that shows the channel says so. Its alarm names the channel.
func TestTransitRoutersCount(t *testing.T) {
	l := configured(t, 3)
	l.mount(3)
	l.on(3)
	l.routers.Refuse("2", "the disk is full")
	l.routers.Wipe("2")
	l.shows("router 2 is wiped", `"state":"unreachable","egress-states":{"unreachable":1}`, `"node-id":"3","role":"egress","state":"unreachable","reason":"router 2 is failed: the disk is full"`,
		`"node-id":"2","role":"transit","state":"failed"`)
	l.alarms(`"resource":"router 2","alarm-type":"router-failed"`, `the disk is full; it carries 1 channel: flow:1 tv`, `"channel":["flow:1 tv"]`, `"alarm-type":"channel-down","severity":"critical"`)
	said := ""
	l.until("all say so", func() bool {
		for name, c := range map[string][]string{"bier:check": {"bier-topomanager"}, "bier:channel-show": {"bier-channel", "tv"}, "bier:alarm-list": {"bier-service"}} {
			if said = l.run(c[0], name, nil, c[1:]...); !strings.Contains(said, "unreachable") || !strings.Contains(said, "router 2 is failed") {
				return false
			}
		}
		return true
	}, func() string { return said })
	l.routers.Up("2", false)
	l.shows("router 2 is off", `"state":"pending"`, "router 2 on the way is pending")
	l.routers.Refuse("2", "")
	l.routers.Up("2", true)
	l.shows("router 2 is back", `"state":"applied","egress-states":{"applied":1}`)
	l.alarms()
	l.routers.Up("2", false)
	l.shows("router 2 is off", `"state":"unverified","egress-states":{"unverified":1}`, "router 2 on the way is unverified", "last confirmed at")
	l.alarms(`"resource":"router 2","alarm-type":"router-unreachable"`, "it carries 1 channel: flow:1 tv")
}

// A router that refuses the login is no better than one that is off, and it is said that a
// person must act. What somebody else changed is counted, and that it was repaired.
func TestRefusedLoginsAndDrift(t *testing.T) {
	l := configured(t, 3)
	l.mount(3)
	l.on(2, 3)
	l.routers.Lock("2", true)
	l.shows("router 2 refuses, and the way to 3 leads over it", `"state":"unverified","egress-states":{"unverified":2}`, "another host key", "router 2 on the way is unverified")
	l.alarms(`"resource":"router 2","alarm-type":"router-refused","severity":"critical"`)
	l.routers.Lock("2", false)
	l.shows("it takes logins again", `"egress-states":{"applied":2}`)
	l.routers.Touch("3", "mallory", func(c *bierdriver.Config) { c.Channels = nil })
	l.until("it is repaired", func() bool { return len(l.routers.Config("3").Channels) == 1 })
	measured := ""
	l.until("the metrics say so", func() bool {
		r, err := pluginv1.NewBaseClient(l.plugins["bier-service"].Conn).Metrics(l.ctx(), &pluginv1.MetricsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		measured = string(r.Text)
		return strings.Contains(measured, `ctl_bier_drift_total{outcome="repaired"} 1`) && strings.Contains(measured, `ctl_bier_session_changes_total{state="refused"} 1`)
	}, func() string { return measured })
}

// A router that is mounted with another password, which it refuses, holds what was confirmed before as far as is known:
// it is unverified, not pending.
func TestAnotherPasswordIsUnverified(t *testing.T) {
	l := configured(t, 3)
	l.mount(3)
	l.on(2, 3)
	l.routers.Lock("3", true)
	const mount = `{"input":{"node-id":"3","host":"192.0.2.3","username":"lab","password":"wrong"}}`
	l.must("bier-service-api:mount-router", mount)
	said := ""
	l.until("router 3 is unverified", func() bool {
		said = l.must("bier-service-api:reconcile", `{"input":{"node-id":["3"],"wait":5000}}`)
		return strings.Contains(said, `"node-id":"3","state":"unverified"`) && strings.Contains(said, "last confirmed at")
	}, func() string { return said })
	l.shows("the channel says so", `"egress-states":{"applied":1,"unverified":1}`)
	l.routers.Lock("3", false)
	l.shows("it takes the login", `"egress-states":{"applied":2}`)
}

// events waits for an event of bier-service that has all of this in it.
func (l *lab) events(want ...string) {
	l.t.Helper()
	for n := 0; ; {
		list, err := l.host.Events(l.ctx(), n)
		if err != nil {
			l.t.Fatalf("never published: %v", want)
		}
		n += len(list)
		for _, e := range list {
			all := e.Stream == "bier-service"
			for _, w := range want {
				all = all && strings.Contains(string(e.Data), w)
			}
			if all {
				return
			}
		}
	}
}

// A BFR-id that routers report to be in use twice is a fault of the channels that use it,
// until what the router holds is changed, or an operator says that it is over.
func TestReportedCollisionsAreFaults(t *testing.T) {
	l := configured(t, 3)
	l.mount(3)
	l.on(2, 3)
	l.routers.Notify("2", &bierdriver.Notification{Kind: bierdriver.BFRIDCollision, BfrId: 3})
	l.shows("the collision counts", `"state":"unreachable","egress-states":{"applied":1,"unreachable":1}`, `"node-id":"3","role":"egress","state":"unreachable","reason":"router 2 reports since`)
	l.alarms(`"resource":"router 2","alarm-type":"bfr-id-collision","severity":"critical"`, `"alarm-type":"channel-degraded"`)
	if said := l.run("bier-topomanager", "bier:check", nil); !strings.Contains(said, "bfr-id-collision") || !strings.Contains(said, "errors") {
		t.Error(said)
	}
	if out := l.must("bier-service-api:clear-reports", `{"input":{"node-id":"2"}}`); !strings.Contains(out, "SUCCESS") {
		t.Error(out)
	}
	l.shows("it is over", `"state":"applied","egress-states":{"applied":2}`)
	l.alarms()
}

// An egress node that is reached only by a router that is known to make no tunnels is warned of at deploy, and
// shown with that router's name, although all routers hold what they must.
func TestWhatARouterLacks(t *testing.T) {
	l := newLab(t)
	l.routers.Description.Lacks = []string{"tunnel", "ecmp"}
	l.network()
	l.must("bier-topology-api:configure-domain", `{"input":{"topology-id":"flow:1","domain":[1]}}`)
	l.must("bier-topology-api:configure-subdomain", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain":[1]}}`)
	for _, i := range []int{1, 2, 3, 6} { // the way to 6 is over 5, which is no BFR
		l.must("bier-topology-api:configure-node", node(i, 1, 1, i, 100, 200, "ISIS"))
	}
	l.mount(6)
	l.must("bier-service-api:reconcile", `{"input":{"wait":10000}}`)
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	const text = "router 1 cannot do what is needed (tunnel, RFC 8279 section 6.9) to reach 6 over 5, which is not in sub-domain 1 of domain 1"
	l.until("the abilities are known", func() bool {
		return strings.Contains(l.run("bier-channel", "bier:channel-deploy", map[string]string{"check": "true"}, "tv", "1", "3", "6"), text)
	})
	if out := l.must("bier-channel-api:query-channel", `{"input":{"channel-name":"tv"}}`); strings.Contains(out, "ingress-node") {
		t.Errorf("a check deployed it: %s", out)
	}
	out := l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"3"},{"node-id":"6"}]}}`)
	if !strings.Contains(out, `"warning":["egress 6: `+text) {
		t.Errorf("no warning: %s", out)
	}
	l.shows("6 is not reached", `"state":"unreachable","egress-states":{"applied":1,"unreachable":1}`, `"node-id":"6","role":"egress","state":"unreachable","reason":"`+text)
}

// Equal ways of which a router uses one, and a router on the way that needs a BFR-id, are warned of with the router's
// name before anything is deployed and when it is. By one of equal ways packets arrive, without a BFR-id they do not.
func TestEqualWaysAndTransitThatARouterLacks(t *testing.T) {
	l := newLab(t)
	l.routers.Description.Lacks = []string{"transit", "ecmp"}
	l.network([4]string{"5", "4", "3", "4"}) // 1 reaches 3 over 2 and over 5
	l.must("bier-topology-api:configure-domain", `{"input":{"topology-id":"flow:1","domain":[1]}}`)
	l.must("bier-topology-api:configure-subdomain", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain":[1]}}`)
	for _, i := range []int{1, 2, 3, 5, 6} {
		body := node(i, 1, 1, i, 100, 200, "ISIS")
		if i == 5 {
			body = strings.ReplaceAll(body, `"bfr-id":"5",`, "")
		}
		if out := l.must("bier-topology-api:configure-node", body); !strings.Contains(out, "SUCCESS") {
			t.Fatal(out)
		}
	}
	l.mount(6)
	l.must("bier-service-api:reconcile", `{"input":{"wait":60000}}`)
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	const (
		equal   = "egress 3: router 1 uses one of 2 equal ways (ecmp, RFC 8279 section 6.7)"
		transit = "egress 6: router 5 cannot do what is needed (transit, a BFR without BFR-id) on the way to 6: it has no bfr-id"
	)
	l.until("the abilities are known", func() bool {
		shown := l.run("bier-channel", "bier:channel-deploy", map[string]string{"check": "true"}, "tv", "1", "3", "6")
		return strings.Contains(shown, strings.TrimPrefix(equal, "egress 3: ")) && strings.Contains(shown, strings.TrimPrefix(transit, "egress 6: "))
	})
	out := l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"3"},{"node-id":"6"}]}}`)
	for _, want := range []string{equal, transit} {
		if !strings.Contains(out, `"`+want+`"`) {
			t.Errorf("%s\n  want %s", out, want)
		}
	}
	for entropy, want := range map[string]string{"": "2 or 5", "0": "2", "1": "5"} {
		shown := l.run("bier-topomanager", "bier:bift-show", map[string]string{"domain": "1", "sub-domain": "1", "bsl": "256", "entropy": entropy}, "1")
		var hops []string
		for line := range strings.Lines(shown) {
			if f := strings.Fields(strings.ReplaceAll(line, "|", " ")); len(f) > 4 && f[3] == "3" {
				hops = append(hops, f[4])
			}
		}
		if got := strings.Join(hops, " or "); got != want {
			t.Errorf("entropy %q: packets to 3 go to %s, want %s:\n%s", entropy, got, want, shown)
		}
	}
	l.shows("6 is not reached, and 3 only when the right one is chosen", `"state":"unreachable","egress-states":{"at-risk":1,"unreachable":1}`,
		`"node-id":"3","role":"egress","state":"at-risk","reason":"router 1 may choose 5: router 5 cannot do`,
		`"node-id":"6","role":"egress","state":"unreachable","reason":"router 5 cannot do what is needed (transit`)
}
