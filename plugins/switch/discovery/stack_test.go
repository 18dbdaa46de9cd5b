package discovery

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Members of an aggregate stand below it in ifStackTable, perhaps with interfaces of another
// type between them.
func TestStack(t *testing.T) {
	types := map[uint32]int32{1: 6, 2: 6, 3: 6, 4: 6, 5: 6, 12: 53, 100: 161, 101: 53, 102: 161, 200: 135, 300: 53}
	for name, c := range map[string]struct {
		stack Stack
		want  []uint32 // the aggregates of ports 1 to 5
	}{
		"ieee8023adLag":              {Stack{100: {1, 2}, 0: {100, 3}, 1: {0}, 2: {0}}, []uint32{100, 100, 0, 0, 0}},
		"port-channel":               {Stack{101: {3, 4}}, []uint32{0, 0, 101, 101, 0}},
		"no aggregate":               {Stack{200: {1, 2}, 300: {3, 4}}, make([]uint32, 5)},
		"a VLAN above":               {Stack{200: {100, 3}, 100: {1}}, []uint32{100, 0, 0, 0, 0}},
		"units between":              {Stack{100: {1, 12}, 12: {2}, 2: {0}}, []uint32{100, 100, 0, 0, 0}},
		"a circle":                   {Stack{100: {12}, 12: {100, 12, 5}}, []uint32{0, 0, 0, 0, 100}},
		"in two":                     {Stack{100: {1, 2}, 102: {2, 3}}, []uint32{100, 0, 102, 0, 0}},
		"an aggregate of aggregates": {Stack{100: {102, 1}, 102: {2}}, []uint32{100, 102, 0, 0, 0}},
	} {
		o := &Observation{}
		for ix := uint32(1); ix <= 5; ix++ {
			o.Ports = append(o.Ports, Port{IfIndex: ix})
		}
		o.Ports = append(o.Ports, Port{IfIndex: 101, Name: "Po1"}, Port{IfIndex: 300, Name: "Vlan300"})
		c.stack.Aggregates(o, types)
		var got []uint32
		for _, p := range o.Ports[:5] {
			got = append(got, p.Aggregate)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
