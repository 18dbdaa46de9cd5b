package bridge

import (
	"math/rand"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

func state(columns ...Columns) *State {
	s := &State{Names: map[int]string{}}
	for i, c := range columns {
		s.Ports = append(s.Ports, Port{Name: string(rune('a' + i)), Number: uint32(i + 1), Columns: c})
	}
	return s
}

func vlan(id uint32, egress, untagged []uint32) *switchdriver.VLAN {
	return &switchdriver.VLAN{VlanId: id, EgressPorts: egress, UntaggedPorts: untagged}
}

// What the modes of ovs-vswitchd.conf.db(5) mean.
func TestModes(t *testing.T) {
	for name, c := range map[string]struct {
		c        Columns
		untagged int
		tagged   []int // of VLANs 1 to 4
	}{
		"access":                 {Columns{Tag: 2}, 2, nil},
		"access, told":           {Columns{Tag: 2, Mode: Access, Trunks: []int{3}}, 2, nil},
		"trunk of all":           {Columns{}, 0, []int{1, 2, 3, 4}},
		"trunk":                  {Columns{Trunks: []int{2, 4}}, 0, []int{2, 4}},
		"trunk with a tag":       {Columns{Tag: 3, Trunks: []int{2, 4}, Mode: Trunk}, 0, []int{2, 4}},
		"native-untagged":        {Columns{Tag: 3, Trunks: []int{2, 3}, Mode: NativeUntagged}, 3, []int{2}},
		"native-untagged of all": {Columns{Tag: 3, Mode: NativeUntagged}, 3, []int{1, 2, 4}},
		"native-tagged":          {Columns{Tag: 3, Trunks: []int{2}, Mode: NativeTagged}, 0, []int{2, 3}},
		"tunnel":                 {Columns{Tag: 3, Mode: "dot1q-tunnel"}, 3, nil},
	} {
		m := c.c.toMember()
		var tagged []int
		for v := 1; v <= 4; v++ {
			if m.tagged[v] {
				tagged = append(tagged, v)
			}
		}
		if m.untagged != c.untagged || !slices.Equal(tagged, c.tagged) {
			t.Errorf("%s: untagged %d, tagged %v", name, m.untagged, tagged)
		}
	}
}

func TestChanges(t *testing.T) {
	one := Columns{Tag: 1}
	for name, c := range map[string]struct {
		from   *State
		change func(*State) (*State, error)
		want   []Columns
		kind   fault.Kind
	}{
		"access and trunk": {state(one, one), func(s *State) (*State, error) { return s.Write(vlan(100, []uint32{1, 2}, []uint32{1}), true) },
			[]Columns{{100, nil, Access}, {1, []int{100}, NativeUntagged}}, 0},
		"removed again": {state(Columns{100, nil, Access}, Columns{1, []int{100}, NativeUntagged}), func(s *State) (*State, error) { return s.Remove(100) },
			[]Columns{{1, nil, Access}, {1, nil, Access}}, 0},
		"no ports named": {state(one), func(s *State) (*State, error) { return s.Write(vlan(100, nil, nil), false) }, []Columns{one}, 0},
		"out of a trunk of all": {state(Columns{}, one), func(s *State) (*State, error) {
			n, err := s.Write(vlan(100, []uint32{2}, nil), true)
			if err == nil && (len(n.Ports[0].Columns.Trunks) != lastVLAN-1 || slices.Contains(n.Ports[0].Columns.Trunks, 100) || len(n.vlanIDs()) != 2) {
				t.Errorf("a trunk of all but one: %v, VLANs %v", n.Ports[0].Columns, n.vlanIDs())
			}
			n.Ports = n.Ports[1:]
			return n, err
		}, []Columns{{1, []int{100}, NativeUntagged}}, 0},
		"a trunk of all is in": {state(Columns{}), func(s *State) (*State, error) { return s.Write(vlan(100, []uint32{1}, nil), true) }, []Columns{{}}, 0},
		"the last VLAN":        {state(one), func(s *State) (*State, error) { return s.Write(vlan(1, nil, nil), true) }, nil, fault.Invalid},
		"a tunnel":             {state(Columns{Tag: 9, Mode: "dot1q-tunnel"}), func(s *State) (*State, error) { return s.Write(vlan(100, []uint32{1}, nil), true) }, nil, fault.Unsupported},
		"a native VLAN that stays": {state(Columns{5, []int{6}, NativeTagged}), func(s *State) (*State, error) { return s.Write(vlan(100, []uint32{1}, nil), true) },
			[]Columns{{5, []int{5, 6, 100}, NativeTagged}}, 0},
	} {
		got, err := c.change(c.from)
		if c.want == nil {
			if fault.KindOf(err) != c.kind {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, p := range got.Ports {
			if !p.Columns.Equal(c.want[i]) {
				t.Errorf("%s: port %d is %+v, want %+v", name, p.Number, p.Columns, c.want[i])
			}
		}
	}
}

// Whatever is written is read so, everything else stays, and the port is in one
// VLAN untagged.
func TestAnyChange(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	s := state(Columns{}, Columns{Tag: 1}, Columns{Tag: 1}, Columns{Trunks: []int{7}}, Columns{7, []int{8}, NativeUntagged}, Columns{7, []int{8}, NativeTagged})
	for range 40 {
		id := uint32(2 + r.Intn(8))
		v := vlan(id, nil, nil)
		for p := uint32(1); p <= 6; p++ {
			if n := r.Intn(3); n > 0 {
				v.EgressPorts = append(v.EgressPorts, p)
				if n == 2 {
					v.UntaggedPorts = append(v.UntaggedPorts, p)
				}
			}
		}
		before := s.VLANs()
		next, err := s.Write(v, true)
		if err != nil {
			t.Fatal(err)
		}
		if got := next.VLAN(id); !proto.Equal(got, v) {
			t.Fatalf("wrote %v, is %v", v, got)
		}
		for _, old := range before {
			now := next.VLAN(old.VlanId)
			for _, p := range old.EgressPorts {
				moved := slices.Contains(v.UntaggedPorts, p) && slices.Contains(old.UntaggedPorts, p)
				if old.VlanId != id && !moved && (now == nil || !slices.Contains(now.EgressPorts, p)) {
					t.Fatalf("writing %v took port %d from VLAN %v (%v)", v, p, old, now)
				}
			}
		}
		if s = next; r.Intn(3) == 0 {
			if s, err = s.Remove(int(id)); err != nil {
				t.Fatal(err)
			}
			if v := s.VLAN(id); v != nil {
				t.Fatalf("removed, but there: %v", v)
			}
		}
	}
}
