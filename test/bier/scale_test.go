package bier

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ctl.internal/sdk/topology"
)

// A channel to as many routers as a lab has: all of them get it, and one more
// touches two.
func TestManyRouters(t *testing.T) {
	n := 250 // bench/bier has 1000, with sessions
	if testing.Short() {
		n = 100
	}
	l := newLab(t)
	net := topology.Topology{ID: "flow:1", Nodes: map[string]topology.Node{}, Links: map[string]topology.Link{}}
	for i := 1; i <= n; i++ {
		id := fmt.Sprint(i)
		net.Nodes[id] = topology.Node{ID: id}
		if i > 1 {
			up := fmt.Sprint(i / 2)
			net.Links[id+"-"+up] = topology.Link{ID: id + "-" + up, SourceNode: id, DestNode: up}
			net.Links[up+"-"+id] = topology.Link{ID: up + "-" + id, SourceNode: up, DestNode: id}
		}
	}
	l.source.Set(net)
	l.until("the topology is known", func() bool { return strings.Contains(l.topologies(), "flow:1") })
	l.must("bier-topology-api:configure-domain", `{"input":{"topology-id":"flow:1","domain":[1]}}`)
	start := time.Now()
	for i := 1; i <= n; i++ {
		out := l.must("bier-topology-api:configure-node", fmt.Sprintf(`{"input":{"topology-id":"flow:1","node-id":"%d","domain":[{"domain-id":1,"bier-global":{"bitstringlength":"256-bit","bfr-id":%d,
			"ipv4-bfr-prefix":"10.%d.%d.1/32","sub-domain":[{"sub-domain-id":0,"igp-type":"ISIS","af":{"ipv4":[{"bitstringlength":256,"bier-mpls-label-base":100,"bier-mpls-label-range-size":10}]}}]}}]}}`, i, i, i/250, i%250))
		if out != success {
			t.Fatal(out)
		}
		l.must("bier-service-api:mount-router", fmt.Sprintf(`{"input":{"node-id":"%d","host":"192.0.2.1","port":%d}}`, i, 1000+i))
	}
	l.must("bier-service-api:reconcile", `{"input":{"wait":20000}}`)
	t.Logf("%d nodes configured and mounted in %s", n, time.Since(start))
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":0,"source-wildcard":32,"group-wildcard":32}}`)
	deploy := func(last int) string {
		var egress []string
		for i := 2; i <= last; i++ {
			egress = append(egress, fmt.Sprintf(`{"node-id":"%d"}`, i))
		}
		start := time.Now()
		out := l.must("bier-channel-api:deploy-channel", `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[`+strings.Join(egress, ",")+`]}}`)
		t.Logf("deployed to %d in %s", last-1, time.Since(start))
		return out
	}
	if out := deploy(n - 1); strings.Count(out, `"applied"`) != n-1 {
		l.until("all have it", func() bool {
			return !strings.Contains(l.must("bier-service-api:reconcile", `{"input":{}}`), `"pending"`)
		}, func() string { return out[:min(len(out), 2000)] })
	}
	before := map[string]int{}
	for _, id := range l.routers.IDs() {
		_, before[id] = l.routers.Counts(id) // edits: a router whose session came up a moment ago is compared too
	}
	deploy(n)
	touched := 0
	for _, id := range l.routers.IDs() {
		if _, now := l.routers.Counts(id); now != before[id] {
			touched++
		}
	}
	if touched != 2 {
		t.Errorf("one more egress touched %d routers, want the ingress and the egress", touched)
	}
}
