package bier

import (
	"strings"
	"testing"

	"ctl.internal/internal/lab/simrouter"
	bierservice "ctl.internal/plugins/bier-service"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/bierdriver"
)

// proving starts the service again with an interval of the proof.
func (l *lab) proving(interval string) {
	l.t.Helper()
	l.plugins["bier-service"].Stop()
	settings := map[string]any{"retry_min": "5ms", "retry_max": "20ms", "proof": interval, "proof_budget": 1000}
	l.start("bier-service", bierservice.Options(), settings)
	l.must("bier-service-api:reconcile", `{"input":{"wait":20000}}`)
}

// hasAlarm waits until there is an alarm of a type, or none.
func (l *lab) hasAlarm(kind string, want bool) {
	l.t.Helper()
	said := ""
	l.until(kind, func() bool {
		said = l.must("bier-service-api:get-alarms", `{}`)
		return strings.Contains(said, `"alarm-type":"`+kind+`"`) == want
	}, func() string { return said })
}

// A channel is proved by the counters of its ingress and its egress nodes; when an egress node counts no packets
// although the ingress does, that is an alarm, the channel is not applied, and it is over when it counts again.
// Without the proof nothing of this is said.
func TestDeliveryIsProvedByCounters(t *testing.T) {
	counted := &deliveries{counts: map[string]uint64{}, stuck: map[string]bool{}, ports: map[string][]string{}}
	l := newLabOf(t, func(r *memoryRouters) bierdriver.Driver { return deliveringRouters{r, counted} })
	l.configure(3)
	l.mount(3)
	l.on(2, 3)
	if said := l.must("bier-channel-api:query-channel", `{"input":{"channel-name":"tv"}}`); strings.Contains(said, "proved") {
		t.Errorf("the proof is off: %s", said)
	}
	l.proving("100ms")
	l.shows("the channel is proved", `"state":"applied","egress-states":{"applied":2},"proved":"`, `"proved-by":"counters"`)
	if said := l.run("bier-channel", "bier:channel-show", nil, "tv"); !strings.Contains(said, "Proved      20") || !strings.Contains(said, " by counters") ||
		!strings.Contains(said, ", way 1 2 3") || !strings.Contains(said, " packets at 20") {
		t.Error(said)
	}
	l.alarms()
	measured := ""
	l.until("the metrics say so", func() bool {
		r, err := pluginv1.NewBaseClient(l.plugins["bier-service"].Conn).Metrics(l.ctx(), &pluginv1.MetricsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		measured = string(r.Text)
		return strings.Contains(measured, `ctl_bier_channels_proved{by="counters"} 1`) && strings.Contains(measured, `ctl_bier_channels_proved{by="no"} 0`)
	}, func() string { return measured })
	counted.Stick("3", true)
	l.shows("router 3 counts nothing", `"state":"unreachable","egress-states":{"applied":1,"unreachable":1},"silent":["1 has counted `,
		`"node-id":"3","role":"egress","state":"unreachable","reason":"1 has counted `)
	l.hasAlarm("channel-silent", true)
	said := ""
	l.until("bier:check shows it", func() bool {
		said = l.run("bier-topomanager", "bier:check", nil)
		return strings.Contains(said, "unreachable: 1 has counted packets of the channel between")
	}, func() string { return said })
	counted.Stick("3", false)
	l.shows("it counts again", `"state":"applied","egress-states":{"applied":2},"proved":"`)
	l.hasAlarm("channel-silent", false)
	l.proving("0s")
	l.shows("the proof is off", `"state":"applied"`)
	l.until("what was measured is gone", func() bool {
		return !strings.Contains(l.must("bier-channel-api:query-channel", `{"input":{"channel-name":"tv"}}`), "proved")
	})
}

// The ingress pings its egress nodes: one that does not answer is not applied, although all routers hold what they must.
func TestDeliveryIsProvedByPing(t *testing.T) {
	l := configured(t, 3)
	l.netconf(1, simrouter.Draft00())
	full := l.netconf(2, simrouter.RFC8349().NMDA().Pings())
	l.netconf(3, simrouter.RFC8349())
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"2","egress-node":[{"node-id":"1"},{"node-id":"3"}]}}`)
	l.shows("the channel is applied", `"state":"applied","egress-states":{"applied":2}`)
	const r1, r3 = "192.168.1.1/32", "192.168.3.1/32"
	ways := map[int]string{1: r1, 3: r3}
	answers := func(id, count uint64) uint64 { return count }
	full.SetPlane(plane(answers, ways))
	l.proving("300ms")
	l.shows("both answer", `"state":"applied","egress-states":{"applied":2},"proved":"`, `"proved-by":"ping"`)
	full.SetPlane(plane(func(id, count uint64) uint64 { return map[uint64]uint64{1: count}[id] }, ways))
	l.shows("3 does not answer", `"state":"unreachable","egress-states":{"applied":1,"unreachable":1}`,
		`"node-id":"3","role":"egress","state":"unreachable","reason":"BIER ping of 2: none of 3 packets was answered"`)
	full.SetPlane(plane(answers, ways))
	l.shows("3 answers again", `"state":"applied","egress-states":{"applied":2},"proved":"`)
}
