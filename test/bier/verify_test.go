package bier

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/plugins/bier-driver-ietf/device"
	bierservice "ctl.internal/plugins/bier-service"
	"ctl.internal/sdk"
)

// netconf mounts a simulated router, driven by the driver for NETCONF.
func (l *lab) netconf(n int, m simrouter.Model) *simrouter.Router {
	l.t.Helper()
	if l.plugins["netconf"] == nil {
		d := device.New(device.Defaults(), slog.New(slog.DiscardHandler))
		l.start("netconf", sdk.Options{Manifest: []byte("name: netconf\nversion: 1.0.0\nsummary: A driver\ncapabilities: [bierdriver]\n"),
			New: func(context.Context, *sdk.Env) (*sdk.Plugin, error) { return &sdk.Plugin{BierDriver: d}, nil }}, nil)
	}
	r, err := simrouter.Start(simrouter.Options{Model: m})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(r.Down)
	l.must("bier-service-api:mount-router", fmt.Sprintf(`{"input":{"node-id":"%d","host":%q,"port":%d,"username":"lab","password":"lab","driver":"netconf"}}`, n, r.Host(), r.Port()))
	return r
}

// plane is what a router shows of its ways: BFR-ids with the BFR-prefixes of their neighbours, for the two lengths that
// the routers of the lab take.
func plane(reaches func(id, count uint64) uint64, ways map[int]string) simrouter.Plane {
	b := simrouter.NSBier
	at := xmltree.New(b, "bier")
	for id, neighbor := range ways {
		entry := xmltree.New(b, "bift", xmltree.Leaf(b, "bfr-id", fmt.Sprint(id)))
		for _, bsl := range []string{"64-bit", "256-bit"} {
			entry.Add(xmltree.New(b, "birt-bitstringlength", xmltree.Leaf(b, "bsl", bsl), xmltree.New(b, "bfr-nbr", xmltree.Leaf(b, "bfr-nbr", neighbor))))
		}
		at.Add(entry)
	}
	return simrouter.Plane{State: xmltree.New("", "", xmltree.New(simrouter.NSRouting, "routing", at)), Reaches: reaches}
}

// The forwarding tables that routers show are compared with those computed, neighbour by neighbour, and routers ping
// others; where a router's model has neither, it is said of that router.
func TestRoutersShowAndPing(t *testing.T) {
	l := configured(t, 3)
	l.netconf(1, simrouter.Draft00())
	full := l.netconf(2, simrouter.RFC8349().NMDA().Pings())
	l.netconf(3, simrouter.RFC8349())
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"2","egress-node":[{"node-id":"1"},{"node-id":"3"}]}}`)
	l.shows("the channel is applied", `"state":"applied","egress-states":{"applied":2}`)

	verify := func(node, want string) {
		t.Helper()
		out := l.must("bier-service-api:verify", `{"input":{"node-id":["`+node+`"]}}`)
		if !strings.Contains(out, want) {
			t.Errorf("verify %s: %s\n  want %s", node, out, want)
		}
	}
	verify("1", `"result":"unknown","reason":"this router's model (ietf-bier-2016-07-23) has no forwarding table to read"`)
	verify("3", `"result":"unknown","reason":"the router shows nothing in bift of its ietf-bier`)

	const r1, r3 = "192.168.1.1/32", "192.168.3.1/32"
	full.SetPlane(plane(nil, map[int]string{1: r1, 3: r3}))
	verify("2", `"result":"equal","tables":2`)
	if said := l.run("bier-service", "bier:verify", nil, "2"); !strings.Contains(said, "equal") || strings.Contains(said, "error") {
		t.Error(said)
	}
	full.SetPlane(plane(nil, map[int]string{1: r1, 3: r1}))
	verify("2", `the bits of BFR-ids 1, 3 go to neighbour 192.168.1.1/32 (1); computed is 3 for BFR-id 3`)
	full.SetPlane(plane(nil, map[int]string{1: r1}))
	verify("2", `"result":"different","reason":"length 64, set 0: there is no way to BFR-id 3 (3); computed is 3"`)
	full.SetPlane(plane(nil, map[int]string{1: r1, 3: r3, 9: r3}))
	verify("2", `the router has ways to BFR-ids 9, which no node of the topology has that can be reached`)
	if said := l.run("bier-service", "bier:verify", nil, "2"); !strings.Contains(said, "error: 1 routers have other forwarding tables than computed") {
		t.Error(said)
	}

	full.SetPlane(plane(func(id, count uint64) uint64 { return map[uint64]uint64{1: count}[id] }, map[int]string{1: r1, 3: r3}))
	out := l.must("bier-service-api:ping", `{"input":{"channel-name":"tv","count":4}}`)
	for _, want := range []string{`{"node-id":"1","sent":4,"received":4,"state":"applied"}`, `{"node-id":"3","sent":4,"received":0,"state":"applied"}`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\n  want %s", out, want)
		}
	}
	l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"3"}]}}`)
	if said := l.run("bier-service", "bier:ping", map[string]string{"count": "2"}, "tv"); !strings.Contains(said, "error: this router's model has no ping over BIER") {
		t.Error(said)
	}

	l.until("what each model cannot do is listed", func() bool {
		lacks := map[string]string{}
		for line := range strings.Lines(l.run("bier-service", "bier:session-list", nil)) {
			for _, n := range []string{"1", "2", "3"} {
				if strings.HasPrefix(line, n+" ") {
					lacks[n] = line
				}
			}
		}
		return strings.Contains(lacks["1"], "forwarding, ping") && !strings.Contains(lacks["2"], "ping") && strings.Contains(lacks["3"], "ping") && !strings.Contains(lacks["3"], "forwarding")
	}, func() string { return l.run("bier-service", "bier:session-list", nil) })
	if said := l.run("bier-service", "bier:driver-list", nil); !strings.Contains(said, "forwarding, ping") { // of the driver in memory, which can neither
		t.Error(said)
	}
}

// A router whose tables say another way than the topology is an alarm and a finding of bier:check, with
// both ways, until they agree again.
func TestTablesThatSayAnotherWay(t *testing.T) {
	l := configured(t, 3)
	l.plugins["bier-service"].Stop()
	l.start("bier-service", bierservice.Options(), map[string]any{"retry_min": "5ms", "retry_max": "20ms", "proof": "300ms"})
	full := l.netconf(2, simrouter.RFC8349().NMDA())
	l.must("bier-service-api:reconcile", `{"input":{"wait":20000}}`)
	const r1, r3 = "192.168.1.1/32", "192.168.3.1/32"
	full.SetPlane(plane(nil, map[int]string{1: r1, 3: r1}))
	const both = "the bits of BFR-ids 1, 3 go to neighbour 192.168.1.1/32 (1); computed is 3 for BFR-id 3"
	l.alarms(`"resource":"router 2","alarm-type":"network-differs","severity":"major"`, both)
	said := ""
	l.until("bier:check shows it", func() bool {
		said = l.run("bier-topomanager", "bier:check", nil)
		return strings.Contains(said, "network-differs") && strings.Contains(said, both)
	}, func() string { return said })
	full.SetPlane(plane(nil, map[int]string{1: r1, 3: r3}))
	l.until("it is over", func() bool {
		return !strings.Contains(l.must("bier-service-api:get-alarms", `{}`), "network-differs")
	})
}
