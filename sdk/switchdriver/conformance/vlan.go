package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// readVLANs reads all VLANs; each is there once, its ports in order.
func (k *kit) readVLANs() map[uint32]*switchdriver.VLAN {
	k.t.Helper()
	all, err := k.client.ReadVLANs(k.testContext(), k.Switch)
	k.mustSucceed("ReadVlans", err)
	out := map[uint32]*switchdriver.VLAN{}
	for _, v := range all {
		if err := switchdriver.CheckVLAN(v, nil); err != nil {
			k.t.Errorf("VLAN %d as read: %v", v.VlanId, err)
		}
		if out[v.VlanId] == nil {
			out[v.VlanId] = sortVLANPorts(v)
		}
	}
	return out
}

func sortVLANPorts(v *switchdriver.VLAN) *switchdriver.VLAN {
	v = proto.CloneOf(v)
	slices.Sort(v.EgressPorts)
	slices.Sort(v.UntaggedPorts)
	return v
}

// writeVLAN writes a VLAN and checks that it is answered and read back so.
func (k *kit) writeVLAN(v *switchdriver.VLAN, create, ports bool) {
	k.t.Helper()
	got, err := k.client.WriteVLAN(k.testContext(), k.Switch, proto.CloneOf(v), create, ports)
	k.mustSucceed(fmt.Sprintf("WriteVlan %v", v), err)
	for where, have := range map[string]*switchdriver.VLAN{
		"answers": got,
		"reads":   k.readVLANs()[v.VlanId],
	} {
		if have == nil {
			k.t.Fatalf("after WriteVlan %v it %s no such VLAN", v, where)
		}
		have := sortVLANPorts(have)
		want := sortVLANPorts(v)
		if !slices.Equal(have.EgressPorts, want.EgressPorts) ||
			!slices.Equal(have.UntaggedPorts, want.UntaggedPorts) ||
			(v.Name != "" && have.Name != v.Name) {
			k.t.Errorf("after WriteVlan %v it %s %v", v, where, have)
		}
	}
}

func (k *kit) deleteVLAN(id uint32) {
	k.t.Helper()
	k.mustSucceed(
		fmt.Sprintf("DeleteVlan %d", id),
		k.client.DeleteVLAN(k.testContext(), k.Switch, id),
	)
	if v := k.readVLANs()[id]; v != nil {
		k.t.Errorf("VLAN %d was removed, but is read: %v", id, v)
	}
}

func vlanLife(k *kit) {
	before := k.readVLANs()
	a := k.Ports[0]
	b := k.Ports[1]
	c := k.Ports[2]
	k.checkRefused(
		"changing a VLAN that is not there",
		secondError(k.client.WriteVLAN(
			k.testContext(),
			k.Switch,
			&switchdriver.VLAN{VlanId: vlanA},
			false,
			true,
		)),
		fault.NotFound,
	)
	k.checkRefused(
		"removing a VLAN that is not there",
		k.client.DeleteVLAN(k.testContext(), k.Switch, vlanA),
		fault.NotFound,
	)
	k.writeVLAN(&switchdriver.VLAN{
		VlanId: vlanA,
		Name:   "kit-a",
	}, true, false)
	k.checkRefused(
		"making a VLAN again",
		secondError(k.client.WriteVLAN(
			k.testContext(),
			k.Switch,
			&switchdriver.VLAN{VlanId: vlanA, Name: "again"},
			true,
			false,
		)),
		fault.Exists,
	)
	k.writeVLAN(&switchdriver.VLAN{
		VlanId:      vlanA,
		EgressPorts: []uint32{a, b},
	}, false, true)
	k.writeVLAN(
		&switchdriver.VLAN{
			VlanId:        vlanA,
			EgressPorts:   []uint32{a, b, c},
			UntaggedPorts: []uint32{c},
		},
		false,
		true,
	)
	k.writeVLAN(&switchdriver.VLAN{
		VlanId:      vlanA,
		EgressPorts: []uint32{a},
	}, false, true)
	if n := k.readVLANs()[vlanA].Name; n != "kit-a" {
		k.t.Errorf("the name of a VLAN changed with its ports, to %q", n)
	}
	k.writeVLAN(
		&switchdriver.VLAN{
			VlanId:      vlanB,
			Name:        "kit b 2",
			EgressPorts: []uint32{b, a},
		},
		true,
		true,
	)
	k.deleteVLAN(vlanA)
	v := k.readVLANs()[vlanB]
	if v == nil || len(v.EgressPorts) != 2 {
		k.t.Errorf("removing one VLAN changed another: %v", v)
	}
	k.deleteVLAN(vlanB)
	if after := k.readVLANs(); !equalVLANs(before, after) {
		k.t.Errorf(
			"VLANs that were made and removed left something:\n%v\nbefore:\n%v",
			after,
			before,
		)
	}
}

func secondError[T any](_ T, err error) error { return err }

func equalVLANs(a, b map[uint32]*switchdriver.VLAN) bool {
	return maps.EqualFunc(a, b, func(v, w *switchdriver.VLAN) bool {
		return proto.Equal(v, w)
	})
}

func untaggedOnce(k *kit) {
	p := k.Ports[0]
	k.writeVLAN(
		&switchdriver.VLAN{
			VlanId:        vlanA,
			EgressPorts:   []uint32{p},
			UntaggedPorts: []uint32{p},
		},
		true,
		true,
	)
	k.writeVLAN(
		&switchdriver.VLAN{
			VlanId:        vlanB,
			EgressPorts:   []uint32{p},
			UntaggedPorts: []uint32{p},
		},
		true,
		true,
	)
	in := []uint32{}
	for id, v := range k.readVLANs() {
		if slices.Contains(v.UntaggedPorts, p) {
			in = append(in, id)
		}
	}
	if !slices.Equal(in, []uint32{vlanB}) {
		k.t.Errorf("port %d is untagged in VLANs %v, want %d only", p, in, vlanB)
	}
	k.deleteVLAN(vlanA)
	k.deleteVLAN(vlanB)
	v := k.readVLANs()[1]
	if v != nil && !slices.Contains(v.UntaggedPorts, p) {
		k.t.Errorf("port %d, whose VLAN was removed, is not back in VLAN 1: %v", p, v)
	}
}

func badVLANs(k *kit) {
	before := k.readVLANs()
	defer k.sendsNothing("refused VLANs")()
	good := func(f func(*switchdriver.VLAN)) *switchdriver.VLAN {
		v := &switchdriver.VLAN{
			VlanId:      vlanA,
			Name:        "kit",
			EgressPorts: []uint32{k.Ports[0]},
		}
		f(v)
		return v
	}
	for name, v := range map[string]*switchdriver.VLAN{
		"no VLAN at all": nil,
		"id 0": good(func(v *switchdriver.VLAN) {
			v.VlanId = 0
		}),
		"id 4095": good(func(v *switchdriver.VLAN) {
			v.VlanId = 4095
		}),
		"id 70000": good(func(v *switchdriver.VLAN) {
			v.VlanId = 70000
		}),
		"a name of 33 characters": good(func(v *switchdriver.VLAN) {
			v.Name = strings.Repeat("n", 33)
		}),
		"a name with a line end": good(func(v *switchdriver.VLAN) {
			v.Name = "a\nreboot"
		}),
		"a name with a control character": good(func(v *switchdriver.VLAN) {
			v.Name = "a\x03"
		}),
		"port 0": good(func(v *switchdriver.VLAN) {
			v.EgressPorts = []uint32{0}
		}),
		"a port that is not there": good(func(v *switchdriver.VLAN) {
			v.EgressPorts = append(v.EgressPorts, 65000)
		}),
		"an untagged port that is no egress": good(func(v *switchdriver.VLAN) {
			v.UntaggedPorts = []uint32{k.Ports[1]}
		}),
	} {
		k.checkRefused("a VLAN with "+name, secondError(k.client.WriteVLAN(k.testContext(), k.Switch, v, true, true)), bad...)
	}
	for _, id := range []uint32{0, 1, 4095, 70000} {
		k.checkRefused(fmt.Sprintf("removing VLAN %d", id), k.client.DeleteVLAN(k.testContext(), k.Switch, id), bad...)
	}
	if after := k.readVLANs(); !equalVLANs(before, after) {
		k.t.Errorf("refused VLANs changed something:\n%v\nbefore:\n%v", after, before)
	}
}

func manyVLANs(k *kit) {
	const n = 12
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() {
			v := &switchdriver.VLAN{
				VlanId:      uint32(3100 + i),
				Name:        fmt.Sprint("kit-", i),
				EgressPorts: []uint32{k.Ports[i%len(k.Ports)], k.Ports[(i+1)%len(k.Ports)]},
			}
			_, errs[i] = k.client.WriteVLAN(k.testContext(), k.Switch, v, true, true)
		})
	}
	all.Wait()
	now := k.readVLANs()
	for i, err := range errs {
		k.mustSucceed("one of many VLANs made at the same time", err)
		v := now[uint32(3100+i)]
		want := []uint32{k.Ports[i%len(k.Ports)], k.Ports[(i+1)%len(k.Ports)]}
		slices.Sort(want)
		if v == nil || !slices.Equal(v.EgressPorts, want) {
			k.t.Errorf(
				"of %d VLANs made at the same time, %d is %v; want ports %v",
				n,
				3100+i,
				v,
				want,
			)
		}
	}
	for i := range n {
		all.Go(func() {
			errs[i] = k.client.DeleteVLAN(k.testContext(), k.Switch, uint32(3100+i))
		})
	}
	all.Wait()
	for _, err := range errs {
		k.mustSucceed("one of many VLANs removed at the same time", err)
	}
	for id := range k.readVLANs() {
		if id >= 3100 && id < 3100+n {
			k.t.Errorf("VLAN %d was removed, but is read", id)
		}
	}
}
