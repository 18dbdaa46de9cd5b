package service

import (
	"slices"
	"strings"
	"testing"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/switchdriver"
)

func newTestVLAN(id uint32, name string, tagged, untagged []uint32) *switchdriver.VLAN {
	return &switchdriver.VLAN{
		VlanId:        id,
		Name:          name,
		EgressPorts:   slices.Concat(tagged, untagged),
		UntaggedPorts: untagged,
	}
}

// The ends of a link are compared by the numbers of their ports, whatever the ports are called, and of an aggregation by
// all its members.
func TestVLANMismatches(t *testing.T) {
	link := bridgeLink{
		a: linkEnd{node: 1, name: "sw1", port: "Gi0/3", numbers: []uint32{3}},
		b: linkEnd{node: 2, name: "sw2", port: "ae0", numbers: []uint32{7, 8}},
	}
	for _, test := range []struct {
		name    string
		a, b    []*switchdriver.VLAN
		want    string
		carried bool
	}{
		{
			name:    "both tagged",
			a:       []*switchdriver.VLAN{newTestVLAN(10, "x", []uint32{3}, nil)},
			b:       []*switchdriver.VLAN{newTestVLAN(10, "x", []uint32{8}, nil)},
			carried: true,
		},
		{
			name: "the other switch does not have it",
			a:    []*switchdriver.VLAN{newTestVLAN(10, "x", []uint32{3}, nil)},
			want: "one-end sw1 Gi0/3 sw2 ae0",
		},
		{
			name: "the other switch has it at another port",
			a:    []*switchdriver.VLAN{newTestVLAN(10, "x", []uint32{4}, nil)},
			b:    []*switchdriver.VLAN{newTestVLAN(10, "x", []uint32{7}, nil)},
			want: "one-end sw2 ae0 sw1 Gi0/3",
		},
		{
			name:    "untagged at one end",
			a:       []*switchdriver.VLAN{newTestVLAN(10, "x", nil, []uint32{3})},
			b:       []*switchdriver.VLAN{newTestVLAN(10, "x", []uint32{7}, nil)},
			want:    "tagging sw2 ae0 sw1 Gi0/3",
			carried: true,
		},
		{
			name: "at no end of the link",
			a:    []*switchdriver.VLAN{newTestVLAN(10, "x", []uint32{1}, nil)},
			b:    []*switchdriver.VLAN{newTestVLAN(10, "x", []uint32{1}, nil)},
		},
		{
			name:    "two names",
			a:       []*switchdriver.VLAN{newTestVLAN(10, "x", []uint32{3}, nil)},
			b:       []*switchdriver.VLAN{newTestVLAN(10, "y", []uint32{7}, nil)},
			want:    "name    ",
			carried: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			vlans := map[mib.MAC][]*switchdriver.VLAN{1: test.a, 2: test.b}
			got := ""
			for _, m := range findMismatches([]bridgeLink{link}, vlans) {
				got += m.Kind + " " + m.Switch + " " + m.Port + " " + m.Peer + " " + m.PeerPort
			}
			if got != test.want {
				t.Errorf("the mismatches are %q, not %q", got, test.want)
			}
			if carried := len(findCarriedLinks([]bridgeLink{link}, vlans)) == 1; carried != test.carried {
				t.Errorf("the link carries the VLAN: %t, not %t", carried, test.carried)
			}
		})
	}
	if list := findMismatches([]bridgeLink{link}, map[mib.MAC][]*switchdriver.VLAN{
		1: {newTestVLAN(10, "x", []uint32{3}, nil)},
	}); len(list) > 0 {
		t.Errorf("a switch that could not be read has a mismatch: %+v", list)
	}
}

// The controller's list has a trouble for each link, whatever number of VLANs does not match there.
func TestMismatchTroubles(t *testing.T) {
	links := []bridgeLink{
		{
			a: linkEnd{node: 1, name: "sw1", port: "port3", id: "3", numbers: []uint32{3}},
			b: linkEnd{node: 2, name: "sw2", port: "port7", id: "7", numbers: []uint32{7}},
		},
		{
			a: linkEnd{node: 1, name: "sw1", port: "port4", id: "4", numbers: []uint32{4}},
			b: linkEnd{node: 3, name: "sw3", port: "port4", id: "4", numbers: []uint32{4}},
		},
	}
	vlans := map[mib.MAC][]*switchdriver.VLAN{2: nil, 3: {newTestVLAN(5, "y", []uint32{4}, nil)}}
	for id := uint32(101); id <= 125; id++ {
		vlans[1] = append(vlans[1], newTestVLAN(id, "", []uint32{3}, nil))
	}
	vlans[1] = append(vlans[1], newTestVLAN(5, "x", []uint32{4}, nil))
	s := &Service{}
	s.set.Topology = "switch:1"
	got := s.mismatchTroubles(findMismatches(links, vlans))
	if len(got) != 1 {
		t.Fatalf("%d troubles, not 1: %+v", len(got), got)
	}
	one := got[0]
	if one.Kind != "vlan-mismatch" || one.Resource != "link 1:3 2:7" || one.Subject != "sw1 port port3 – sw2 port port7" || !one.Warning {
		t.Errorf("the trouble is %+v", one)
	}
	if !strings.HasPrefix(one.Cause, "VLAN 101, 102, ") || !strings.Contains(one.Cause, "120 and 5 more: sw1 port port3 has it, sw2 port port7 has not") {
		t.Errorf("the cause is %q", one.Cause)
	}
	const nodes = "/network-topology:network-topology/topology=switch:1/node="
	want := []string{nodes + "1", nodes + "2", nodes + "1/termination-point=3", nodes + "2/termination-point=7"} // who may not read one does not see it
	if !slices.Equal(one.Concerns, want) {
		t.Errorf("it concerns %q, not %q", one.Concerns, want)
	}
}
