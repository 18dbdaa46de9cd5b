package bier

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/topology"
)

func (l *lab) topologies() string {
	return l.must("bier-topology-api:load-topology", `{"input":{}}`)
}

// Several topologies at once: of a plugin, of the configuration tree, of a file.
func TestTopologiesOfAllSources(t *testing.T) {
	l := newLab(t)
	l.network()
	const at = "/network-topology:network-topology/topology=my%2Flab"
	if _, err := l.host.Client(t, nil).Datastore.Commit(l.ctx(), host.Config, host.Txn{Ops: []host.Op{
		{Key: at, Value: []byte(`{"topology-id":"my/lab"}`)},
		{Key: at + "/node=r1", Value: []byte(`{"node-id":"r1"}`)},
		{Key: at + "/node=r1/termination-point=e0", Value: []byte(`{"tp-id":"e0"}`)},
		{Key: at + "/node=r2", Value: []byte(`{"node-id":"r2"}`)},
		{Key: at + "/link=r1-r2", Value: []byte(`{"link-id":"r1-r2","source":{"source-node":"r1","source-tp":"e0"},"destination":{"dest-node":"r2"}}`)},
	}}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "net.yaml")
	if err := os.WriteFile(file, []byte("topology-id: paper\nnode:\n- {node-id: a, name: A}\n- {node-id: b}\nlink:\n- {source: {source-node: a, source-tp: x}, destination: {dest-node: b}, metric: 7, bidirectional: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.plugins["bier-topomanager"].Shell(l.ctx(), "bier:topo-import", []string{file}, nil); err != nil {
		t.Fatal(err)
	}
	l.until("all three are there", func() bool {
		return l.topologies() == `{"topology":[{"topology-id":"flow:1"},{"topology-id":"my/lab"},{"topology-id":"paper"}]}`
	})
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
	l.until("the imported one is gone", func() bool { return !strings.Contains(l.topologies(), "paper") })
}

// What is configured survives its source; what is not goes with it.
func TestConfigurationSurvivesItsSource(t *testing.T) {
	l := configured(t, 1)
	l.source.Set(topology.Topology{ID: "other", Nodes: map[string]topology.Node{"x": {ID: "x"}}})
	l.until("the other is there", func() bool { return strings.Contains(l.topologies(), "other") })
	l.source.Remove("flow:1")
	l.source.Remove("other")
	l.until("what nobody configured is gone", func() bool { return !strings.Contains(l.topologies(), "other") })
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
		"topology-id: x\nnode: [{node-id: a}, {node-id: a}]\n":                                                    "node a is there twice",
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

// Changes are told on the event stream.
func TestTopologyEvents(t *testing.T) {
	l := newLab(t)
	l.network()
	want := map[string]bool{`bier-topology-api:topo-change":{"topo-id":"flow:1"}`: true, `bier-topology-api:link-add`: true, `bier-topology-api:link-remove`: true}
	l.source.Set(topology.Topology{ID: "flow:1", Nodes: map[string]topology.Node{"openflow:1": {ID: "openflow:1"}}})
	for n := 0; len(want) > 0; {
		events, err := l.host.Events(l.ctx(), n)
		if err != nil {
			t.Fatalf("never told: %v", want)
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

// The operational tree shows what there is, a document for each entry.
func TestOperationalTree(t *testing.T) {
	l := configured(t, 1)
	const root = "/bier-topology:bier-network-topology"
	data := l.host.Client(t, l.plugins["bier-topomanager"].Manifest).Datastore
	read := func(key string) string {
		e, err := data.Get(l.ctx(), host.Operational, root+key)
		if err != nil {
			return ""
		}
		return string(e.Value)
	}
	const entry = "/bier-topology=flow:1/bier-node=1/bier-node-params/domain=1/bier-global/sub-domain=1/af/ipv4=256,100"
	l.until("a label range is there", func() bool {
		return read(entry) == `{"bier-mpls-label-base":100,"bier-mpls-label-range-size":4,"bitstringlength":256}`
	})
	l.must("bier-channel-api:add-channel", `{"input":{"name":"tv 1","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`)
	channels := l.host.Client(t, l.plugins["bier-channel"].Manifest).Datastore
	l.until("the channel is there", func() bool {
		_, err := channels.Get(l.ctx(), host.Operational, "/bier-channel:bier-network-channel/bier-channel=flow:1/channel=tv%201")
		return err == nil
	})
	l.must("bier-topology-api:delete-domain", `{"input":{"topology-id":"flow:1","domain-id":1}}`)
	l.until("it is gone", func() bool { return read(entry) == "" && read("/bier-topology=flow:1/bier-node=1") != "" })
}
