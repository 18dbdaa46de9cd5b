package bier

import (
	"fmt"
	"strings"
	"testing"

	"ctl.internal/sdk/bierdriver"
)

// add creates a channel with a group, and put deploys it from node 1 to 2.
func (l *lab) add(name, source, group string) {
	l.t.Helper()
	wildcard := 32
	if strings.Contains(group, ":") {
		wildcard = 128
	}
	out := l.must("bier-channel-api:add-channel", fmt.Sprintf(`{"input":{"name":"%s","src-ip":"%s","dst-group":"%s","domain-id":1,"sub-domain-id":1,"source-wildcard":%d,"group-wildcard":%d}}`,
		name, source, group, wildcard, wildcard))
	if !strings.Contains(out, "SUCCESS") {
		l.t.Fatal(out)
	}
}

func (l *lab) deploy(name string) string {
	l.t.Helper()
	return l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"`+name+`","ingress-node":"1","egress-node":[{"node-id":"2"}]}}`)
}

// state is that of a channel.
func (l *lab) stateOf(name string) string {
	l.t.Helper()
	said := l.must("bier-channel-api:query-channel", `{"input":{"channel-name":"`+name+`"}}`)
	_, rest, _ := strings.Cut(said, `"state":"`)
	state, _, _ := strings.Cut(rest, `"`)
	return state
}

func (l *lab) groups(node string) (out []string) {
	for _, c := range l.routers.Config(node).Channels {
		out = append(out, c.GroupAddress)
	}
	return out
}

// A channel that its ingress cannot have concerns no other: they stay applied, are repaired, come and go.
// When the router takes it after all, it gets it.
func TestAChannelThatIsRefusedConcernsNoOther(t *testing.T) {
	for name, driver := range map[string]func(*memoryRouters) bierdriver.Driver{
		"found by trying":     func(r *memoryRouters) bierdriver.Driver { return r },
		"known to the driver": func(r *memoryRouters) bierdriver.Driver { return checkingRouters{r} }} {
		t.Run(name, func(t *testing.T) {
			l := newLabOf(t, driver)
			l.configure(2)
			l.mount(2)
			l.add("c1", "1.1.1.1", "224.1.1.1")
			l.add("c6", "2001:db8::1", "ff3e::1")
			l.deploy("c1")
			l.until("c1 is applied", func() bool { return l.stateOf("c1") == "applied" })
			if name == "found by trying" {
				l.routers.Cannot("1", "ff")
				if out := l.deploy("c6"); !strings.Contains(out, "SUCCESS") || !strings.Contains(out, `"state":"failed","reason":"this model has no groups that begin with ff"`) {
					t.Error(out)
				}
			} else {
				l.deploy("c6") // it can have it now, and not any more after its model was changed
				l.until("c6 is applied", func() bool { return l.stateOf("c6") == "applied" })
				l.routers.Cannot("1", "ff")
				l.run("bier-service", "bier:router-sync", nil, "1")
			}
			for i := range 20 {
				l.add(fmt.Sprint("d", i), fmt.Sprintf("1.1.2.%d", i), "224.1.1.2")
				l.deploy(fmt.Sprint("d", i))
			}
			said := ""
			l.until("all but c6 are applied", func() bool {
				said = l.run("bier-service", "bier:session-list", nil)
				for i := range 20 {
					if l.stateOf(fmt.Sprint("d", i)) != "applied" {
						return false
					}
				}
				return l.stateOf("c1") == "applied" && l.stateOf("c6") == "failed"
			}, func() string { return said })
			if !strings.Contains(said, "it does not get channels that it must hold: flow:1 c6: this model") {
				t.Error(said)
			}
			l.routers.Touch("1", "mallory", func(c *bierdriver.Config) { c.Channels = nil })
			l.until("c1 and the others are repaired", func() bool { return len(l.groups("1")) >= 21 })
			l.must("bier-channel-api:remove-channel", `{"input":{"channel-name":"c1"}}`)
			l.until("c1 is removed from both", func() bool {
				return !strings.Contains(fmt.Sprint(l.groups("1"), l.groups("2")), "224.1.1.1")
			})
			l.routers.Cannot("1", "")
			l.run("bier-service", "bier:router-sync", nil, "1")
			l.until("c6 is applied", func() bool {
				return l.stateOf("c6") == "applied" && strings.Contains(fmt.Sprint(l.groups("1")), "ff3e::1")
			})
		})
	}
}

// What a driver knows that it cannot write is refused when it is deployed, and nothing is stored.
func TestDeployAsksTheDriver(t *testing.T) {
	l := newLabOf(t, func(r *memoryRouters) bierdriver.Driver { return checkingRouters{r} })
	l.configure(2)
	l.mount(2)
	l.must("bier-service-api:reconcile", `{"input":{"wait":10000}}`)
	l.routers.Cannot("2", "ff")
	l.add("c6", "2001:db8::1", "ff3e::1")
	const why = "router 2 cannot have channel c6: this model has no groups that begin with ff"
	if out := l.deploy("c6"); !strings.Contains(out, "FAILURE") || !strings.Contains(out, why) {
		t.Error(out)
	}
	if said := l.run("bier-channel", "bier:channel-deploy", map[string]string{"check": "true"}, "c6", "1", "2"); !strings.Contains(said, why) {
		t.Error(said)
	}
	if out := l.must("bier-channel-api:query-channel", `{"input":{"channel-name":"c6"}}`); strings.Contains(out, "ingress-node") {
		t.Errorf("it was stored: %s", out)
	}
	l.routers.Cannot("2", "")
	if out := l.deploy("c6"); !strings.Contains(out, "SUCCESS") {
		t.Error(out)
	}
}
