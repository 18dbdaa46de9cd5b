package bier

import (
	"fmt"
	"slices"
	"testing"
)

// wired is sketch with a port "to-b" at each end of each link, and parallel links counted: "to-b", "to-b.2".
func wired(links string, ids map[string]uint16) *Topology {
	t := sketch(links, ids)
	seen := map[string]int{}
	for i := range t.Links {
		l := &t.Links[i]
		key := l.Source.Node + " " + l.Dest.Node
		seen[key]++
		end := ""
		if seen[key] > 1 {
			end = fmt.Sprint(".", seen[key])
		}
		l.Source.TP, l.Dest.TP = "to-"+l.Dest.Node+end, "to-"+l.Source.Node+end
	}
	return t
}

// What a port is used for: the links of all ways that routers may choose, sources and receivers; and which egress
// nodes are cut off without it.
func TestUsesOfAPort(t *testing.T) {
	ids := map[string]uint16{"r1": 1, "r2": 2, "r3": 3, "r4": 4}
	channels := func(egress ...string) []Channel {
		c := Channel{Name: "tv", DomainID: 1, IngressNode: "r1", SrcTP: "eth9"}
		for _, e := range egress {
			c.EgressNodes = append(c.EgressNodes, EgressNode{ID: e, Receivers: []Receiver{{TP: "eth1"}}})
		}
		return []Channel{c, {Name: "not deployed", DomainID: 1}}
	}
	for name, x := range map[string]struct {
		links  string
		egress []string
		node   string
		port   string
		want   string
	}{
		"a line":                  {"r1-r2 r2-r3", []string{"r2", "r3"}, "r1", "to-r2", "[{tv r1 link [r2 r3] [r2 r3]}]"},
		"its other end":           {"r1-r2 r2-r3", []string{"r2", "r3"}, "r2", "to-r1", "[{tv r1 link [r2 r3] [r2 r3]}]"},
		"its last link":           {"r1-r2 r2-r3", []string{"r2", "r3"}, "r2", "to-r3", "[{tv r1 link [r3] [r3]}]"},
		"behind the egress":       {"r1-r2 r2-r3", []string{"r2"}, "r2", "to-r3", "[]"},
		"one of two equal ways":   {"r1-r2 r1-r3 r2-r4 r3-r4", []string{"r4"}, "r1", "to-r3", "[{tv r1 link [r4] []}]"},
		"a longer way":            {"r1-r2 r1-r3:20 r2-r4 r3-r4", []string{"r4"}, "r1", "to-r3", "[]"},
		"the way that is used":    {"r1-r2 r1-r3:20 r2-r4 r3-r4", []string{"r4"}, "r1", "to-r2", "[{tv r1 link [r4] []}]"},
		"a parallel link":         {"r1-r2 r1-r2", []string{"r2"}, "r1", "to-r2.2", "[{tv r1 link [r2] []}]"},
		"a longer parallel link":  {"r1-r2 r1-r2:20", []string{"r2"}, "r1", "to-r2.2", "[]"},
		"the source":              {"r1-r2", []string{"r2"}, "r1", "eth9", "[{tv r1 source [r2] [r2]}]"},
		"with openflow: in front": {"r1-r2", []string{"r2"}, "r1", "openflow:eth9", "[{tv r1 source [r2] [r2]}]"},
		"a receiver":              {"r1-r2", []string{"r2"}, "r2", "eth1", "[{tv r1 receiver [r2] [r2]}]"},
		"that of another node":    {"r1-r2", []string{"r2"}, "r2", "eth9", "[]"},
		"no port":                 {"r1-r2", []string{"r2"}, "r1", "", "[]"},
	} {
		top := wired(x.links, ids)
		list := channels(x.egress...)
		if got := fmt.Sprint(UsesOfPort(top, list, x.node, x.port)); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
		if got := HasPort(top, slices.Values(list), x.node, x.port); got != (x.port != "" && name != "that of another node") {
			t.Errorf("%s: the port is there: %v", name, got)
		}
	}
}

// The bit strings of some egress nodes are those of their BFR-ids alone.
func TestBitStringsOfTargets(t *testing.T) {
	top := sketch("r1-r2 r2-r3 r2-r4", map[string]uint16{"r1": 1, "r2": 2, "r3": 3, "r4": 65})
	c := &Channel{Name: "c", DomainID: 1, IngressNode: "r1", EgressNodes: []EgressNode{{ID: "r2"}, {ID: "r3"}, {ID: "r4"}}}
	plan, err := PlanChannel(top, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		nodes         []string
		want, unknown string
	}{
		{nil, "0:06 1:01 ", ""},
		{[]string{"r3"}, "0:04 ", ""},
		{[]string{"r4", "r2"}, "0:02 1:01 ", ""},
		{[]string{"r3", "r1"}, "", "r1"},
	} {
		list, unknown := plan.TargetBitStrings(x.nodes)
		got := ""
		for _, b := range list {
			got += fmt.Sprintf("%d:%s ", b.SI, b.Hex())
		}
		if got != x.want || unknown != x.unknown {
			t.Errorf("%v: %s, %q", x.nodes, got, unknown)
		}
	}
}
