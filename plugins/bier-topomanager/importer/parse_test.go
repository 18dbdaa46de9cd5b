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
	want := "line 2: topology[0]/node[0]: node-id is missing\nline 3: topology[1]: topology a occurs twice\n" +
		"line 3: topology[1]/link[0]: source-node \"x\" is not among the nodes of topology a\nline 3: topology[1]/link[0]: dest-node \"y\" is not among the nodes of topology a"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	_, err = Parse([]byte("topology-id: a\nnode:\n- node-id: r1\n- name: r2\nnetwork-topology:network-topology:\n  topology:\n  - {}\n"))
	if want := "line 7: topology[0]: topology-id is missing\nline 4: topology[1]/node[1]: node-id is missing"; err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}

// What is wrong is reported by line, without Go's types and without what is there: the
// file may be any that the controller can read.
func TestWrongFiles(t *testing.T) {
	for text, want := range map[string]string{
		"root:x:0:0:secret":                        "line 1: a value of kind str does not belong here",
		"[secret]":                                 "line 1: a value of kind seq does not belong here",
		"topology-id: a\nsecret1: 1\nnodes: []":    "line 2: there is no field secret1; line 3: there is no field nodes",
		"topology-id: a\nnode: {secret: secret}":   "line 2: node: a value of kind map does not belong here",
		"topology-id: a\nlink:\n- {metric: ten}":   "line 3: metric: a value of kind str does not belong here",
		"topology-id: a\nnode:\n- {node-id: a\n":   "line 2: did not find expected ',' or '}'",
		"topology-id: a\nnode:\n- many\n  lines\n": "line 3: a value of kind str does not belong here",
	} {
		_, err := Parse([]byte(text))
		if err == nil || fault.KindOf(err) != fault.Malformed || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
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
