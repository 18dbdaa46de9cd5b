package discovery

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/switch/mib"
)

// lldpPorts says which port each LLDP port number was put to.
func lldpPorts(o *Observation) map[uint32]string {
	out := map[uint32]string{}
	for _, p := range o.Ports {
		if p.LLDPLocal != 0 {
			out[p.LLDPLocal] = p.ID
		}
	}
	return out
}

func named(s string) LLDPPort { return LLDPPort{ID: Identifier{5, []byte(s)}} }

func TestAssemblePorts(t *testing.T) {
	for name, c := range map[string]struct {
		t    Tables
		want map[uint32]string
	}{
		"equal numbers": {Tables{BasePorts: map[uint32]uint32{1: 1, 2: 2}, LLDPPorts: map[uint32]LLDPPort{1: {}, 2: {}}},
			map[uint32]string{1: "1", 2: "2"}},
		"LLDP numbers are ifIndexes": {Tables{BasePorts: map[uint32]uint32{1: 501, 2: 502}, LLDPPorts: map[uint32]LLDPPort{501: {}, 502: {}}},
			map[uint32]string{501: "1", 502: "2"}},
		"LLDP numbers are base ports": {Tables{BasePorts: map[uint32]uint32{1: 501, 2: 502}, LLDPPorts: map[uint32]LLDPPort{1: {}, 2: {}}},
			map[uint32]string{1: "1", 2: "2"}},
		"both would fit, the names decide": {Tables{BasePorts: map[uint32]uint32{1: 2, 2: 3, 3: 1},
			Interfaces: map[uint32]Interface{1: {Name: "a"}, 2: {Name: "b"}, 3: {Name: "c"}},
			LLDPPorts:  map[uint32]LLDPPort{1: named("b"), 2: named("c"), 3: named("a")}},
			map[uint32]string{1: "1", 2: "2", 3: "3"}},
		"neither fits, the names decide": {Tables{BasePorts: map[uint32]uint32{1: 501, 2: 502},
			Interfaces: map[uint32]Interface{501: {Name: "a"}, 502: {Name: "b"}}, LLDPPorts: map[uint32]LLDPPort{77: named("b"), 78: named("a")}},
			map[uint32]string{77: "2", 78: "1"}},
		"no BRIDGE-MIB: LLDP's ports": {Tables{Interfaces: map[uint32]Interface{4: {Name: "e1"}}, LLDPPorts: map[uint32]LLDPPort{4: named("e1")}},
			map[uint32]string{4: "4"}},
		"a port outside the bridge keeps apart from the port of its number": {Tables{BasePorts: map[uint32]uint32{1: 11, 2: 12},
			LLDPPorts: map[uint32]LLDPPort{11: {}, 12: {}, 2: {}}}, map[uint32]string{11: "1", 12: "2", 2: "if2"}},
		"one identifier on all ports names none": {Tables{BasePorts: map[uint32]uint32{1: 1, 2: 2}, Interfaces: map[uint32]Interface{1: {Name: "x"}, 2: {Name: "y"}},
			LLDPPorts: map[uint32]LLDPPort{1: named("x"), 2: named("x")}}, map[uint32]string{1: "1", 2: "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			var o Observation
			Assemble(&o, c.t)
			if d := cmp.Diff(c.want, lldpPorts(&o)); d != "" {
				t.Error("(-want +got):\n" + d)
			}
		})
	}
}

// Ports without ifName are called by their ifDescr, unless several ports have it; no two ports have one number.
func TestAssembleNames(t *testing.T) {
	var o Observation
	Assemble(&o, Tables{BasePorts: map[uint32]uint32{1: 11, 2: 12, 3: 13, 4: 14}, Interfaces: map[uint32]Interface{
		11: {Name: "a", Descr: "first"}, 12: {Descr: "second"}, 13: {Descr: "same"}, 14: {Descr: "same"}},
		LLDPPorts: map[uint32]LLDPPort{11: {}, 12: {}, 13: {}, 2: {}, 3: {}}})
	var got []string
	numbers := map[uint32]int{}
	for _, p := range o.Ports {
		got = append(got, p.ID+" "+p.Name)
		if numbers[p.Number]++; numbers[p.Number] > 1 {
			t.Errorf("two ports have the number %d", p.Number)
		}
	}
	if d := cmp.Diff([]string{"1 a", "2 second", "3 ", "4 ", "if2 ", "if3 "}, got); d != "" {
		t.Error("(-want +got):\n" + d)
	}
}

func TestAssembleNeighbours(t *testing.T) {
	var o Observation
	Assemble(&o, Tables{BasePorts: map[uint32]uint32{1: 501}, Remotes: map[mib.RemoteIndex]*Neighbor{
		{Mark: 400, LocalPort: 501, Index: 2}: {SysName: "b"},
		{Mark: 100, LocalPort: 501, Index: 3}: {SysName: "a"},
		{Mark: 0, LocalPort: 600, Index: 1}:   {SysName: "c"}, // no table has the port
		{Mark: 0, LocalPort: 501, Index: 9}:   {},             // reports nothing
	}})
	var got []string
	for _, n := range o.Neighbors {
		got = append(got, n.LocalPort+" "+n.SysName)
	}
	if d := cmp.Diff([]string{"1 a", "1 b", "600 c"}, got); d != "" {
		t.Error("(-want +got):\n" + d)
	}
	if len(o.Notes) != 1 {
		t.Errorf("notes %q", o.Notes)
	}
}

func FuzzBuild(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4}, []byte("p1"), "sw2", byte(5))
	f.Fuzz(func(t *testing.T, chassis, port []byte, name string, subtype byte) {
		n := Neighbor{LocalPort: "1", Chassis: Identifier{int32(subtype % 9), chassis}, Port: Identifier{int32(subtype / 9), port}, SysName: name, PortDesc: name}
		a, b := sw(1, n, n), sw(2, n)
		net := Build([]*Observation{a, b}, a.Observed)
		for _, e := range net.Edges {
			if e.Tail.Node == "" || e.Tail.Port == "" || e.Head.Port == "" {
				t.Fatalf("edge without an end: %+v", e)
			}
		}
	})
}
