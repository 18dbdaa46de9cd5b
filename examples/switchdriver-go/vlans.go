package main

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/switchdriver"
)

// defaultVLAN is the VLAN of a port that is in no other VLAN.
const defaultVLAN = 1

// These functions need no switch: they take the current VLANs and return the desired VLANs. session.change sends the
// differences.

func find(all []*switchdriver.VLAN, id uint32) *switchdriver.VLAN {
	for _, v := range all {
		if v.GetVlanId() == id {
			return v
		}
	}
	return nil
}

// write adds v to the VLANs. A port is untagged in one VLAN only: it leaves its former VLAN.
func write(all []*switchdriver.VLAN, v *switchdriver.VLAN, setPorts bool) []*switchdriver.VLAN {
	out := clone(all)
	w := find(out, v.GetVlanId())
	if w == nil {
		w = &switchdriver.VLAN{VlanId: v.GetVlanId()}
		out = append(out, w)
	}
	if v.GetName() != "" {
		w.Name = v.GetName()
	}
	if setPorts {
		for _, other := range out {
			if other != w {
				leave(other, v.GetUntaggedPorts())
			}
		}
		w.EgressPorts, w.UntaggedPorts = sorted(v.GetEgressPorts()), sorted(v.GetUntaggedPorts())
	}
	return home(all, out)
}

// remove removes a VLAN.
func remove(all []*switchdriver.VLAN, id uint32) []*switchdriver.VLAN {
	out := slices.DeleteFunc(clone(all), func(v *switchdriver.VLAN) bool { return v.GetVlanId() == id })
	return home(all, out)
}

// home moves ports without an untagged VLAN to the default VLAN.
func home(before, after []*switchdriver.VLAN) []*switchdriver.VLAN {
	first := find(after, defaultVLAN)
	for _, v := range before {
		for _, p := range v.GetUntaggedPorts() {
			lost := !slices.ContainsFunc(after, func(v *switchdriver.VLAN) bool { return slices.Contains(v.GetUntaggedPorts(), p) })
			if lost && first != nil {
				first.EgressPorts, first.UntaggedPorts = sorted(append(first.EgressPorts, p)), sorted(append(first.UntaggedPorts, p))
			}
		}
	}
	return after
}

// leave removes some ports from the untagged ports of a VLAN.
func leave(v *switchdriver.VLAN, ports []uint32) {
	gone := func(p uint32) bool { return slices.Contains(ports, p) && slices.Contains(v.GetUntaggedPorts(), p) }
	v.EgressPorts = slices.DeleteFunc(slices.Clone(v.EgressPorts), gone)
	v.UntaggedPorts = slices.DeleteFunc(slices.Clone(v.UntaggedPorts), gone)
}

func clone(all []*switchdriver.VLAN) []*switchdriver.VLAN {
	out := make([]*switchdriver.VLAN, len(all))
	for i, v := range all {
		out[i] = proto.CloneOf(v)
	}
	return out
}

// sorted returns a port list in ascending order, each port once.
func sorted(ports []uint32) []uint32 {
	out := slices.Clone(ports)
	slices.Sort(out)
	return slices.Compact(out)
}
