package conformance

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// memory is a driver whose switch is in memory. bad spoils it in one way.
type memory struct {
	bad   string
	turns switchdriver.Turns
	vlans map[uint32]*switchdriver.VLAN
}

func newMemory(bad string) *memory {
	return &memory{bad: bad, vlans: map[uint32]*switchdriver.VLAN{1: {VlanId: 1, EgressPorts: []uint32{1, 2, 3}, UntaggedPorts: []uint32{1, 2, 3}}}}
}

func (d *memory) Match() switchdriver.Match {
	switch d.bad {
	case "is for nothing":
		return switchdriver.Match{}
	case "is for everything":
		return switchdriver.Match{SysDescr: ".*"}
	}
	return switchdriver.Match{Models: []string{"memory"}}
}

func (d *memory) at(ctx context.Context, sw *switchdriver.Switch) (func(), error) {
	if err := switchdriver.CheckSwitch(sw); err != nil && d.bad != "takes any switch" {
		return nil, err
	}
	return d.turns.Take(ctx, sw)
}

func (d *memory) ReadVLANs(ctx context.Context, sw *switchdriver.Switch) ([]*switchdriver.VLAN, error) {
	if d.bad == "does not do what it announces" {
		return nil, fault.New(fault.Unsupported, "not today")
	}
	done, err := d.at(ctx, sw)
	if err != nil {
		return nil, err
	}
	defer done()
	var out []*switchdriver.VLAN
	for _, id := range slices.Sorted(maps.Keys(d.vlans)) {
		out = append(out, proto.CloneOf(d.vlans[id]))
	}
	return out, nil
}

func (d *memory) WriteVLAN(ctx context.Context, sw *switchdriver.Switch, v *switchdriver.VLAN, create, setPorts bool) (*switchdriver.VLAN, error) {
	done, err := d.at(ctx, sw)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := switchdriver.CheckVLAN(v, func(p uint32) bool { return p >= 1 && p <= 3 }); err != nil && d.bad != "takes any VLAN" {
		if d.bad == "tells the login" {
			err = fault.New(fault.Invalid, "login with %s failed", sw.GetCli().GetPassword())
		}
		return nil, err
	}
	if v == nil { // a bad one takes that too
		v = &switchdriver.VLAN{}
	}
	old := d.vlans[v.GetVlanId()]
	switch {
	case old != nil && create && d.bad != "makes it again":
		return nil, fault.New(fault.Exists, "there")
	case old == nil && !create:
		return nil, fault.New(fault.NotFound, "not there")
	}
	n := &switchdriver.VLAN{VlanId: v.GetVlanId(), Name: v.GetName()}
	if old != nil {
		n.Name, n.EgressPorts, n.UntaggedPorts = old.Name, old.EgressPorts, old.UntaggedPorts
	}
	if setPorts {
		for _, w := range d.vlans {
			if d.bad == "leaves ports untagged twice" {
				break
			}
			gone := func(p uint32) bool { return slices.Contains(v.UntaggedPorts, p) && slices.Contains(w.UntaggedPorts, p) }
			w.EgressPorts, w.UntaggedPorts = slices.DeleteFunc(slices.Clone(w.EgressPorts), gone), slices.DeleteFunc(slices.Clone(w.UntaggedPorts), gone)
		}
		n.EgressPorts, n.UntaggedPorts = v.EgressPorts, v.UntaggedPorts
	}
	if d.bad != "says done and does nothing" {
		d.vlans[v.GetVlanId()] = n
	}
	d.home()
	return proto.CloneOf(n), nil
}

// home brings ports without an untagged VLAN back to the first.
func (d *memory) home() {
	for p := uint32(1); p <= 3; p++ {
		in := slices.ContainsFunc(slices.Collect(maps.Values(d.vlans)), func(v *switchdriver.VLAN) bool { return slices.Contains(v.UntaggedPorts, p) })
		if w := d.vlans[1]; !in {
			w.EgressPorts, w.UntaggedPorts = append(w.EgressPorts, p), append(w.UntaggedPorts, p)
			slices.Sort(w.EgressPorts)
			slices.Sort(w.UntaggedPorts)
		}
	}
}

func (d *memory) DeleteVLAN(ctx context.Context, sw *switchdriver.Switch, id uint32) error {
	done, err := d.at(ctx, sw)
	if err != nil {
		return err
	}
	defer done()
	switch {
	case id < 2 || id > switchdriver.MaxVLANID:
		return fault.New(fault.Invalid, "no")
	case d.vlans[id] == nil:
		return fault.New(fault.NotFound, "not there")
	}
	delete(d.vlans, id)
	d.home()
	return nil
}
