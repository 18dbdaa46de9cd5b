package bier

import (
	"fmt"
	"strings"
	"testing"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/sdk/bierdriver"
	"ctl.internal/sdk/fault"
)

// says is must of a call whose answer has all of this.
func (l *lab) says(rpc, body string, want ...string) {
	l.t.Helper()
	out := l.must(rpc, body)
	for _, w := range want {
		if !strings.Contains(out, w) {
			l.t.Errorf("%s %s: %s\n  want %s", rpc, body, out, w)
		}
	}
}

// What uses a port is found by the plan, before somebody pulls the cable: links, the source and receivers. The ports of
// receivers reach the egress router's driver.
func TestWhatUsesAPort(t *testing.T) {
	l := configured(t, 4)
	l.mount(4)
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	const deploy = `{"input":{"channel-name":"tv","ingress-node":"1","src-tp":"eth9","egress-node":[{"node-id":"3","rcv-tp":[{"tp":"eth7"},{"tp":"eth8"}]},{"node-id":"4"}]}}`
	l.says("bier-channel-api:deploy-channel", deploy, "SUCCESS")
	l.shows("the ports are shown", `"src-tp":"eth9"`, `{"node-id":"3","rcv-tp":[{"tp":"eth7"},{"tp":"eth8"}]}`)
	l.until("the egress router gets the ports", func() bool {
		for _, c := range l.routers.Config("3").Channels {
			if c.Role == bierdriver.Egress && fmt.Sprint(c.Ports) == "[eth7 eth8]" {
				return true
			}
		}
		return false
	})
	const link = `"channel-name":"tv","bfir":"1","use":"link","egress-node":["3","4"],"cut-off":["3","4"]`
	l.says("bier-pce:query-channel-through-port", `{"input":{"node-id":"1","tp-id":"1:1"}}`, link)
	l.says("bier-pce:query_channel_through_port", `{"input":{"node_id":"openflow:2","tp_id":"openflow:2:3"}}`, link)
	l.says("bier-pce:query-channel-through-port", `{"input":{"node-id":"2","tp-id":"2:1"}}`, `"use":"link","egress-node":["3"],"cut-off":["3"]`)
	l.says("bier-pce:query-channel-through-port", `{"input":{"node-id":"3","tp-id":"eth7"}}`, `"use":"receiver","egress-node":["3"]}`)
	if out := l.must("bier-pce:query-channel-through-port", `{"input":{"node-id":"5","tp-id":"5:1"}}`); out != "{}" {
		t.Errorf("a port that nothing uses: %s", out)
	}
	l.refused("bier-pce:query-channel-through-port", `{"input":{"node-id":"1","tp-id":"nothing"}}`, fault.NotFound)
	l.refused("bier-pce:query-channel-through-port", `{"input":{"node-id":"99","tp-id":"1:1"}}`, fault.NotFound)

	const at = `{"input":{"domain-id":1,"sub-domain-id":1,"node-id":"%s","tp-id":"%s"}}`
	l.says("bier-channel-api:query-channel-with-port", fmt.Sprintf(at, "1", "eth9"), `"channel-name":"tv","bfir":"1","is-rcv-tp":false`)
	l.says("bier-channel-api:query-channel-with-port", fmt.Sprintf(at, "3", "eth8"), `"channel-name":"tv","bfir":"1","is-rcv-tp":true`)
	for _, none := range []string{fmt.Sprintf(at, "1", "1:1"), `{"input":{"domain-id":2,"sub-domain-id":1,"node-id":"3","tp-id":"eth8"}}`} {
		if out := l.must("bier-channel-api:query-channel-with-port", none); out != "{}" {
			t.Errorf("%s: %s", none, out)
		}
	}
	for want, args := range map[string][]string{
		"link":                      {"2", "2:1"},
		"receiver":                  {"3", "eth7"},
		"source":                    {"1", "eth9"},
		"No deployed channel":       {"5", "5:1"},
		"no topology has a port xy": {"5", "xy"},
	} {
		if said := l.run("bier-channel", "bier:port-show", nil, args...); !strings.Contains(said, want) {
			t.Errorf("%v: %s", args, said)
		}
	}
	if said := l.run("bier-channel", "bier:channel-deploy", nil, "tv", "1@eth9", "3@eth5,eth6", "4"); strings.Contains(said, "error") {
		t.Error(said)
	}
	l.shows("other ports", `{"node-id":"3","rcv-tp":[{"tp":"eth5"},{"tp":"eth6"}]}`)
}

// BitStrings of some egress nodes are computed, and echo requests are answered by a notification.
func TestBitStringsAndEchoRequests(t *testing.T) {
	l := configured(t, 3)
	l.netconf(1, simrouter.Draft00())
	full := l.netconf(2, simrouter.RFC8349().NMDA().Pings())
	l.netconf(3, simrouter.RFC8349())
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	l.refused("bier-service-api:get-target-bitstring", `{"input":{"channel-name":"tv"}}`, fault.Invalid)
	l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"2","egress-node":[{"node-id":"1"},{"node-id":"3"}]}}`)
	l.shows("the channel is applied", `"state":"applied"`)
	answers := func(id, count uint64) uint64 { return map[uint64]uint64{1: count}[id] }
	full.SetPlane(plane(answers, nil))

	l.says("bier-service-api:get-target-bitstring", `{"input":{"topology-id":"flow:1","channel-name":"tv"}}`, `"subdomain-id":1,"ingress-node-id":"2","bitstring":[{"si":0,"bitstringlength":256,"bits":"05"}]`)
	l.says("bier-service-api:get-target-bitstring", `{"input":{"channel-name":"tv","target-node-ids":[{"target-node-id":"3"}]}}`, `"bits":"04"`)
	l.refused("bier-service-api:get-target-bitstring", `{"input":{"channel-name":"tv","target-node-ids":[{"target-node-id":"2"}]}}`, fault.Invalid)
	l.refused("bier-service-api:get-target-bitstring", `{"input":{"channel-name":"no"}}`, fault.NotFound)
	if said := l.run("bier-service", "bier:bitstring-show", nil, "tv", "1"); !strings.Contains(said, "01") {
		t.Error(said)
	}

	echo := func(more string) string {
		t.Helper()
		return l.must("bier-oam-api:start-echo-request", `{"input":{"topology-id":"flow:1",`+more+`}}`)
	}
	const targets = `"target-node-ids":[{"target-node-id":"1"},{"target-node-id":"3"}]`
	for body, cause := range map[string]string{
		`"channel-name":"tv","check-type":"on-demand","mode-type":"ping"`:                                            "target-node-ids is missing",
		`"channel-name":"tv","mode-type":"ping",` + targets:                                                          "check-type is missing",
		`"channel-name":"tv","check-type":"on-demand",` + targets:                                                    "mode-type is missing",
		`"check-type":"on-demand","mode-type":"ping",` + targets:                                                     "channel-name is missing",
		`"channel-name":"no","check-type":"on-demand","mode-type":"ping",` + targets:                                 "there is no channel no",
		`"channel-name":"tv","check-type":"on-demand","mode-type":"ping","max-ttl":0,` + targets:                     "max-ttl is 0",
		`"channel-name":"tv","check-type":"on-demand","mode-type":"ping","target-node-ids":[{"target-node-id":"2"}]`: "node 2 is no egress node",
	} {
		if out := echo(body); !strings.Contains(out, "FAILURE") || !strings.Contains(out, cause) {
			t.Errorf("%s: %s, want %s", body, out, cause)
		}
	}
	if out := echo(`"channel-name":"tv","check-type":"on-demand","mode-type":"ping","reply-mode":"ip-udp",` + targets); !strings.Contains(out, "SUCCESS") {
		t.Error(out)
	}
	l.events(`"ingress-node-id":"2"`, `{"ping-target-node-id":"1","ping-result":"success"}`, `{"ping-target-node-id":"3","ping-result":"failed! Time out!`)
	l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"3"}]}}`)
	if out := echo(`"channel-name":"tv","check-type":"on-demand","mode-type":"ping","target-node-ids":[{"target-node-id":"3"}]`); !strings.Contains(out, "FAILURE") || !strings.Contains(out, "router 1 has no BIER ping") {
		t.Error(out)
	}
}

// A trace follows packets by the tables that routers show, and proactive echo requests go on until they are stopped or
// the channel is not deployed any more.
func TestTraceAndProactiveEchoRequests(t *testing.T) {
	l := configured(t, 3)
	l.netconf(1, simrouter.Draft00())
	full := l.netconf(2, simrouter.RFC8349().NMDA().Pings())
	l.netconf(3, simrouter.RFC8349())
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"2","egress-node":[{"node-id":"1"},{"node-id":"3"}]}}`)
	l.shows("the channel is applied", `"state":"applied"`)
	const r1, r3 = "192.168.1.1/32", "192.168.3.1/32"
	all := func(_, count uint64) uint64 { return count }
	none := func(_, _ uint64) uint64 { return 0 }
	full.SetPlane(plane(all, map[int]string{1: r1, 3: r3}))

	echo := func(check, mode, more string) {
		t.Helper()
		l.says("bier-oam-api:start-echo-request", `{"input":{"channel-name":"tv","check-type":"`+check+`","mode-type":"`+mode+`",`+more+
			`"target-node-ids":[{"target-node-id":"1"},{"target-node-id":"3"}]}}`, "SUCCESS")
	}
	echo("on-demand", "trace", "")
	l.events(`{"trace-target-node-id":"1","trace-responder-node-ids":[{"index":1,"trace-responder-node-id":"1"}],"trace-result":"success"}`,
		`{"trace-target-node-id":"3","trace-responder-node-ids":[{"index":1,"trace-responder-node-id":"3"}],"trace-result":"success"}`)
	full.SetPlane(plane(all, map[int]string{1: r1}))
	if said := l.run("bier-service", "bier:trace", nil, "tv", "3"); !strings.Contains(said, "failed! router 2 has no way to BFR-id 3 (3)") {
		t.Error(said)
	}
	if said := l.run("bier-service", "bier:trace", nil, "tv", "1"); !strings.Contains(said, "2 1") || !strings.Contains(said, "success") {
		t.Error(said)
	}
	full.SetPlane(plane(all, map[int]string{1: r1, 3: r1})) // to 3 by way of 1, which shows no table
	if said := l.run("bier-service", "bier:trace", nil, "tv", "3"); !strings.Contains(said, "failed! packets come to 2 again and again; the next hop of router 1 is computed") {
		t.Error(said)
	}

	l.says("bier-oam-api:start-echo-request", `{"input":{"channel-name":"tv","check-type":"proactive","mode-type":"ping","target-node-ids":[{"target-node-id":"1"}]}}`,
		"FAILURE", "topology-id is missing")
	echo("proactive", "ping", `"topology-id":"flow:1","interval":1,`)
	l.events(`{"ping-target-node-id":"1","ping-result":"success"}`, `{"ping-target-node-id":"3","ping-result":"success"}`)
	full.SetPlane(plane(none, nil))
	l.events(`{"ping-target-node-id":"1","ping-result":"failed! Time out!`, `{"ping-target-node-id":"3","ping-result":"failed! Time out!`)
	l.says("bier-oam-api:get-echo-requests", `{}`, `"topology-id":"flow:1","channel-name":"tv","mode-type":"ping","interval":1,"node-id":["1","3"],"last":"20`, "2 of 2 failed")
	l.refused("bier-oam-api:stop-echo-request", `{"input":{"channel-name":"tv"}}`, fault.Missing)
	l.says("bier-oam-api:stop-echo-request", `{"input":{"topology-id":"other","channel-name":"tv"}}`, "FAILURE", "has no proactive echo request")
	l.says("bier-oam-api:stop-echo-request", `{"input":{"topology-id":"flow:1","channel-name":"tv"}}`, "SUCCESS")
	l.says("bier-oam-api:stop-echo-request", `{"input":{"topology-id":"flow:1","channel-name":"tv"}}`, "FAILURE", "has no proactive echo request")
	echo("proactive", "trace", `"topology-id":"flow:1","interval":1,`)
	if said := l.run("bier-service", "bier:echo-stop", nil, "tv"); strings.Contains(said, "error") {
		t.Error(said)
	}
	echo("proactive", "trace", `"topology-id":"flow:1","interval":1,`)
	l.must("bier-channel-api:remove-channel", `{"input":{"channel-name":"tv"}}`)
	said := ""
	l.until("it ends with its channel", func() bool {
		said = l.must("bier-oam-api:get-echo-requests", `{}`)
		return said == "{}"
	}, func() string { return said })
}
