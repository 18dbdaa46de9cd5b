package service

import (
	"fmt"
	"testing"

	"ctl.internal/plugins/switch/discovery"

	"github.com/google/go-cmp/cmp"
)

func node(id string, stale bool) discovery.Node {
	return discovery.Node{ID: id, Kind: discovery.SNMP, Stale: stale, Ports: []discovery.Port{{ID: "1"}}}
}

func between(a, b string) discovery.Edge {
	return discovery.Edge{Tail: discovery.End{Node: a, Port: "1", Kind: discovery.SNMP}, Head: discovery.End{Node: b, Port: "1", Kind: discovery.SNMP}, Confirmed: true}
}

func TestDiff(t *testing.T) {
	before := &discovery.Network{Nodes: []discovery.Node{node("1", false), node("2", true), node("3", false)}, Edges: []discovery.Edge{between("1", "2"), between("1", "3")}}
	after := &discovery.Network{Nodes: []discovery.Node{node("1", true), node("2", false), node("4", false)}, Edges: []discovery.Edge{between("1", "2"), between("1", "4")}}
	want := []change{{AddedNodes: []string{"4"}, RemovedNodes: []string{"3"}, Silent: []string{"1"}, Answering: []string{"2"},
		AddedEdges: []edge{{"1", "1", "4", "1", true, ""}}, RemovedEdges: []edge{{"1", "1", "3", "1", true, ""}}}}
	if d := cmp.Diff(want, diffNetworks(before, after)); d != "" {
		t.Error("(-want +got):\n" + d)
	}
	if got := diffNetworks(after, after); len(got) != 0 {
		t.Errorf("nothing changed, but %+v", got)
	}
	many := &discovery.Network{}
	for i := range 2*perEvent + 1 {
		many.Nodes = append(many.Nodes, node(fmt.Sprint(i), false))
	}
	if got := diffNetworks(nil, many); len(got) != 3 || len(got[0].AddedNodes) != perEvent {
		t.Errorf("%d parts", len(got))
	}
}

func TestTopology(t *testing.T) {
	outside := discovery.Node{ID: "00:00:02:00:00:00:00:09", Kind: discovery.PR, Name: "phone"}
	n := &discovery.Network{Nodes: []discovery.Node{node("1", false), node("2", true), outside}, Edges: []discovery.Edge{between("1", "2"), between("2", "1"),
		{Tail: discovery.End{Node: outside.ID, Port: "eth0", Kind: discovery.PR}, Head: discovery.End{Node: "1", Port: "1", Kind: discovery.SNMP}}}}
	got := Topology("switch:1", n)
	if len(got.Nodes) != 3 || len(got.Links) != 3 || len(got.Nodes[outside.ID].TPs) != 1 || len(got.Nodes["1"].TPs) != 1 {
		t.Errorf("%+v", got)
	}
	for id, l := range got.Links {
		if l.ID != id || got.Nodes[l.SourceNode].TPs[l.SourceTP].ID == "" || got.Nodes[l.DestNode].TPs[l.DestTP].ID == "" {
			t.Errorf("link %s has an end that is not there: %+v", id, l)
		}
	}
	if a := got.Nodes["2"].Attributes; a["answering"] != "false" || a["type"] != "SNMP" {
		t.Errorf("attributes %v", a)
	}
}
