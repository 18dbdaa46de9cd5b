package importer

import (
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
)

func TestJSONOfNetworkTopology(t *testing.T) {
	all, err := Parse([]byte(`{"network-topology:network-topology":{"topology":[
		{"topology-id":"a","node":[{"node-id":"1","termination-point":[{"tp-id":"1:1"}]},{"node-id":"2"}],
		 "link":[{"link-id":"l","source":{"source-node":"1","source-tp":"1:1"},"destination":{"dest-node":"2","dest-tp":"2:1"}}]},
		{"topology-id":"b"}]}}`))
	if err != nil || len(all) != 2 || len(all[0].Nodes) != 2 || len(all[0].Nodes["2"].TPs) != 1 || all[0].Links["l"].DestTP != "2:1" {
		t.Fatalf("%+v, %v", all, err)
	}
}

func TestEveryFaultIsTold(t *testing.T) {
	_, err := Parse([]byte("topology:\n- {topology-id: a, node: [{}]}\n- {topology-id: a, link: [{source: {source-node: x}, destination: {dest-node: y}}]}\n"))
	if l := fault.All(err); len(l) != 4 {
		t.Fatalf("%d faults: %v, want node-id, the id twice, source-node and dest-node", len(l), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("topology-id: x\nnode: [{node-id: a}]\n")
	f.Add("topology: [{topology-id: x, link: [{link-id: l}]}]")
	f.Add("{\"network-topology:network-topology\":{}}")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Parse([]byte(text))
		if (err == nil) != (len(all) > 0) {
			t.Fatalf("%d topologies and %v", len(all), err)
		}
		for _, x := range all {
			for _, l := range x.Links {
				if _, ok := x.Nodes[l.SourceNode]; !ok || strings.TrimSpace(x.ID) == "" && x.ID == "" {
					t.Fatalf("link %s from nowhere", l.ID)
				}
			}
		}
	})
}
