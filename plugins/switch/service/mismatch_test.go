package service

import (
	"slices"
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
