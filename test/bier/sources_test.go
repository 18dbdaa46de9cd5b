package bier

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/topology"
)

func (l *lab) topologies() string {
	return l.must("bier-topology-api:load-topology", `{"input":{}}`)
}

// config writes the configuration tree as the controller does for a user.
func (l *lab) config(ops ...host.Op) {
	l.t.Helper()
	if _, err := l.host.Client(l.t, nil).Datastore.Commit(l.ctx(), host.Txn{Ops: ops}); err != nil {
		l.t.Fatal(err)
	}
}

// Several topologies at once: of a plugin, of the configuration tree, of a file.
func TestTopologiesOfAllSources(t *testing.T) {
	l := newLab(t)
	l.network()
	const at = "/network-topology:network-topology/topology=my%2Flab"
	l.config([]host.Op{
		{Space: host.Tree, Key: at, Value: []byte(`{"topology-id":"my/lab"}`)},
		{Space: host.Tree, Key: at + "/node=r1", Value: []byte(`{"node-id":"r1"}`)},
		{Space: host.Tree, Key: at + "/node=r1/termination-point=e0", Value: []byte(`{"tp-id":"e0"}`)},
		{Space: host.Tree, Key: at + "/node=r2", Value: []byte(`{"node-id":"r2"}`)},
		{Space: host.Tree, Key: at + "/link=r1-r2", Value: []byte(`{"link-id":"r1-r2","source":{"source-node":"r1","source-tp":"e0"},"destination":{"dest-node":"r2"}}`)},
	}...)
	file := filepath.Join(t.TempDir(), "net.yaml")
	if err := os.WriteFile(file, []byte("topology-id: paper\nnode:\n- {node-id: a, name: A}\n- {node-id: b}\nlink:\n- {source: {source-node: a, source-tp: x}, destination: {dest-node: b}, metric: 7, bidirectional: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.plugins["bier-topomanager"].Shell(l.ctx(), "bier:topo-import", []string{file}, nil); err != nil {
		t.Fatal(err)
	}
	if got := l.topologies(); got != `{"topology":[{"topology-id":"flow:1"},{"topology-id":"my/lab"},{"topology-id":"paper"}]}` {
		t.Errorf("what was written and imported is not there at once: %s", got)
	}
	for rpc, want := range map[string]string{
		`query-link {"input":{"topology-id":"my/lab","link":["r1-r2"]}}`: `"link-source":{"source-node":"r1","source-tp":"e0"}`,
		`query-node {"input":{"topology-id":"my/lab","node":["r1"]}}`:    `"tp-id":"e0"`,
		`query-link {"input":{"topology-id":"paper","link":["a:x-b:"]}}`: `"metric":7`,
		`query-node {"input":{"topology-id":"paper","node":["a"]}}`:      `"name":"A"`,
	} {
		name, body, _ := strings.Cut(rpc, " ")
		if out := l.must("bier-topology-api:"+name, body); !strings.Contains(out, want) {
			t.Errorf("%s: %s, want %s", rpc, out, want)
		}
	}
	if _, err := l.plugins["bier-topomanager"].Shell(l.ctx(), "bier:topo-forget", []string{"paper"}, nil); err != nil {
		t.Fatal(err)
	}
	if got := l.topologies(); strings.Contains(got, "paper") {
		t.Errorf("the imported one is still there: %s", got)
	}
	l.config(host.Op{Space: host.Tree, Key: at + "/node=r2", Delete: true}, host.Op{Space: host.Tree, Key: at + "/link=r1-r2", Delete: true})
	if out := l.must("bier-topology-api:query-topology", `{"input":{"topology-id":"my/lab"}}`); out != `{"topology-id":"my/lab","node-id":[{"node-id":"r1"}]}` {
		t.Errorf("a node and a link were removed: %s", out)
	}
	l.config(host.Op{Space: host.Tree, Key: at, Delete: true}, host.Op{Space: host.Tree, Key: at + "/node=r1", Delete: true},
		host.Op{Space: host.Tree, Key: at + "/node=r1/termination-point=e0", Delete: true})
	if got := l.topologies(); strings.Contains(got, "my/lab") {
		t.Errorf("the configured one is still there: %s", got)
	}
}

// What is configured survives its source; what is not goes with it.
func TestConfigurationSurvivesItsSource(t *testing.T) {
	l := configured(t, 1)
	l.source.Set(topology.Topology{ID: "other", Nodes: map[string]topology.Node{"x": {ID: "x"}}})
	l.until("the other is there", func() bool { return strings.Contains(l.topologies(), "other") })
	l.source.Remove("flow:1")
	l.source.Remove("other")
	l.until("what was not configured is gone", func() bool { return !strings.Contains(l.topologies(), "other") })
	l.until("nodes without configuration are gone", func() bool {
		return l.must("bier-topology-api:query-topology", `{"input":{"topology-id":"flow:1"}}`) == `{"topology-id":"flow:1","node-id":[{"node-id":"1"}]}`
	})
	if out := l.must("bier-topology-api:query-subdomain-node", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":1}}`); out != `{}` {
		t.Errorf("a node that is offline is listed: %s", out)
	}
	if out := l.must("bier-topology-api:query-node", `{"input":{"topology-id":"flow:1","node":["1"]}}`); !strings.Contains(out, `"bfr-id":1`) {
		t.Errorf("its configuration is lost: %s", out)
	}
}

func TestImportNamesWhatIsWrong(t *testing.T) {
	l := newLab(t)
	for text, want := range map[string]string{
		"":                             "the file is empty",
		"topology-id: x\nnodes: []\n":  "line 2: there is no field nodes",
		"node: [{node-id: a}]\n":       "topology-id is missing",
		"topology-id: x\nnode: [{}]\n": "node-id is missing",
		"topology-id: x\nnode: [{node-id: a}]\nlink: [{source: {source-node: a}, destination: {dest-node: b}}]\n": `dest-node "b" is not among the nodes`,
		"topology-id: x\nnode: [{node-id: a}, {node-id: a}]\n":                                                    "node a occurs twice",
		"{": "did not find",
	} {
		file := filepath.Join(t.TempDir(), "net.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := l.plugins["bier-topomanager"].Shell(l.ctx(), "bier:topo-import", []string{file}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v (%s), want %q", text, err, fault.KindOf(err), want)
		}
	}
}

// Changes are reported on the event stream.
func TestTopologyEvents(t *testing.T) {
	l := newLab(t)
	l.network()
	want := map[string]bool{`bier-topology-api:topo-change":{"topo-id":"flow:1"}`: true, `bier-topology-api:link-add`: true, `bier-topology-api:link-remove`: true}
	l.source.Set(topology.Topology{ID: "flow:1", Nodes: map[string]topology.Node{"openflow:1": {ID: "openflow:1"}}})
	for n := 0; len(want) > 0; {
		events, err := l.host.Events(l.ctx(), n)
		if err != nil {
			t.Fatalf("never reported: %v", want)
		}
		n += len(events)
		for _, e := range events {
			for w := range want {
				if e.Stream == "bier-topology" && strings.Contains(string(e.Data), w) {
					delete(want, w)
				}
			}
		}
	}
}

// The configuration trees are what the calls change, at once.
func TestTheTreesAreTheState(t *testing.T) {
	l := configured(t, 1)
	data := l.host.Client(t, nil).Datastore
	read := func(key string) string {
		e, err := data.Get(l.ctx(), host.Tree, key)
		if err != nil {
			return ""
		}
		return string(e.Value)
	}
	const node = bier.TopologyTree + "/bier-topology=flow:1/bier-node=1"
	if out := read(node); !strings.Contains(out, `{"bitstringlength":256,"bier-mpls-label-base":100,"bier-mpls-label-range-size":4}`) {
		t.Errorf("the label range is not there: %s", out)
	}
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv 1","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	const channel = bier.ChannelTree + "/bier-channel=flow:1/channel=tv%201"
	if read(channel) == "" {
		t.Error("the channel is not there")
	}
	l.must("bier-topology-api:delete-domain", `{"input":{"topology-id":"flow:1","domain-id":1}}`)
	if out := read(node); out == "" || strings.Contains(out, "bier-global") {
		t.Errorf("the domain is not gone: %s", out)
	}
	// And the other way: what is written there is what the calls answer.
	if err := l.putTree(channel, nil); err != nil {
		t.Fatal(err)
	}
	if out := l.must("bier-channel-api:get-channel", `{"input":{}}`); out != "{}" {
		t.Errorf("a channel that was deleted in the tree: %s", out)
	}
}

// What is written into the trees is checked by the rules of the calls.
func TestTheTreesAreChecked(t *testing.T) {
	l := configured(t, 3)
	const topology, channels = bier.TopologyTree + "/bier-topology=flow:1", bier.ChannelTree + "/bier-channel=flow:1"
	l.must("bier-channel-api:add-channel", addTV)
	if out := l.must("bier-channel-api:deploy-channel", deployTV); !strings.HasPrefix(out, channelSuccess) {
		t.Fatal(out)
	}
	for _, c := range []struct{ path, value, want string }{
		{topology + "/bier-node=2", "", "node 2 is egress of the deployed channel tv"},
		{topology + "/bier-domain=1", "", "channel tv is deployed in sub-domain 1"},
		{topology, "", "channel tv is deployed"},
		{topology + "/bier-domain=7", `{"domain-id":7,"bier-sub-domain":[{"sub-domain-id":3}]}`, "sub-domain 0 is missing"},
		{topology + "/bier-node=3", `{"node-id":"3","bier-node-params":{"domain":[{"domain-id":1,"bier-global":{"bitstringlength":"256-bit","bfr-id":2,"ipv4-bfr-prefix":"10.0.0.3/32","sub-domain":[{"sub-domain-id":1,"igp-type":"ISIS"}]}}]}}`, "bfr-id 2 is node 2's"},
		{topology + "/bier-node=3", `{"node-id":"3","bier-node-params":{"domain":[{"domain-id":9,"bier-global":{"bitstringlength":"256-bit","bfr-id":9,"ipv4-bfr-prefix":"10.0.0.3/32","sub-domain":[{"sub-domain-id":1,"igp-type":"ISIS"}]}}]}}`, "there is no such sub-domain"},
		{channels + "/channel=x", `{"name":"x","src-ip":"1.1.1.1","dst-group":"9.9.9.9","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}`, "is not a multicast address"},
		{channels + "/channel=x", `{"name":"x","src-ip":"1.1.1.1","dst-group":"224.1.1.2","domain-id":4,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}`, "there is no domain 4"},
		{channels + "/channel=x", `{"name":"x","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32,"ingress-node":"1","egress-node":[{"node-id":"2"}]}`, "channel tv has the flow"},
		{channels + "/channel=tv", `{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.9","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32,"ingress-node":"1","egress-node":[{"node-id":"2"}]}`, "is deployed from node 1"},
		{treeNode + "1", `{"node-id":"1","netconf-node-topology:host":"192.0.2.1","netconf-node-topology:host-key":"rubbish"}`, "host-key of router 1"},
	} {
		var value []byte
		if c.value != "" {
			value = []byte(c.value)
		}
		if err := l.putTree(c.path, value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.path, c.value, err, c.want)
		}
	}
	if err := l.putTree(channels+"/channel=y", []byte(`{"name":"y","src-ip":"1.1.1.1","dst-group":"224.1.1.2","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32,"ingress-node":"1","egress-node":[{"node-id":"3"}]}`)); err != nil {
		t.Fatal(err)
	}
	if out := l.must("bier-channel-api:query-channel", `{"input":{"channel-name":"y"}}`); !strings.Contains(out, `"ingress-node":"1"`) {
		t.Errorf("a channel deployed in the tree: %s", out)
	}
}

// query-node names a port as the router does, where the source knows it, and by the number that its source or the end of
// its id says.
func TestNamesAndNumbersOfPorts(t *testing.T) {
	l := newLab(t)
	port := func(id string, a map[string]string) topology.TerminationPoint {
		return topology.TerminationPoint{ID: id, Attributes: a}
	}
	l.source.Set(topology.Topology{ID: "net", Nodes: map[string]topology.Node{"openflow:3": {ID: "openflow:3", TPs: map[string]topology.TerminationPoint{
		"openflow:3:2": port("openflow:3:2", map[string]string{"name": "eth2"}), "openflow:3:4": port("openflow:3:4", map[string]string{"index": "517"}), "up": port("up", nil)}}}})
	l.until("the topology is known", func() bool { return strings.Contains(l.topologies(), `"net"`) })
	for _, node := range []string{"3", "openflow:3"} {
		out := l.must("bier-topology-api:query-node", `{"input":{"topology-id":"net","node-id":"`+node+`"}}`)
		if want := `"bier-termination-point":[{"tp-id":"3:2","if-name":"eth2","tp-index":2},{"tp-id":"3:4","tp-index":517},{"tp-id":"up"}]`; !strings.Contains(out, want) {
			t.Errorf("%s\n  want %s", out, want)
		}
	}
}

// What a plugin sees stays when what users configured of the same topology goes, and the
// other way round.
func TestSourcesOfOneTopologyCompleteEachOther(t *testing.T) {
	l := newLab(t)
	l.source.Set(topology.Topology{ID: "mixed", Nodes: map[string]topology.Node{"r1": {ID: "r1"}, "r2": {ID: "r2"}}})
	nodes := func() string { return l.must("bier-topology-api:query-topology", `{"input":{"topology-id":"mixed"}}`) }
	l.until("what the plugin sees is there", func() bool { return strings.Contains(l.topologies(), "mixed") && strings.Contains(nodes(), "r2") })
	const at = "/network-topology:network-topology/topology=mixed"
	l.config(host.Op{Space: host.Tree, Key: at, Value: []byte(`{"topology-id":"mixed"}`)},
		host.Op{Space: host.Tree, Key: at + "/node=r2", Value: []byte(`{"node-id":"r2"}`)},
		host.Op{Space: host.Tree, Key: at + "/node=r3", Value: []byte(`{"node-id":"r3"}`)})
	if got := nodes(); got != `{"topology-id":"mixed","node-id":[{"node-id":"r1"},{"node-id":"r2"},{"node-id":"r3"}]}` {
		t.Errorf("both together: %s", got)
	}
	l.config(host.Op{Space: host.Tree, Key: at, Delete: true}, host.Op{Space: host.Tree, Key: at + "/node=r2", Delete: true}, host.Op{Space: host.Tree, Key: at + "/node=r3", Delete: true})
	if got := nodes(); got != `{"topology-id":"mixed","node-id":[{"node-id":"r1"},{"node-id":"r2"}]}` {
		t.Errorf("what the plugin sees alone: %s", got)
	}
}
