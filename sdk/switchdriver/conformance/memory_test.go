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
	ports map[uint32]*switchdriver.PortSettings
}

func newMemory(bad string) *memory {
	ports := map[uint32]*switchdriver.PortSettings{}
	for port := uint32(1); port <= 3; port++ {
		ports[port] = &switchdriver.PortSettings{Port: port, Up: new(true), Description: new(""), Power: new(true), PowerPriority: new(switchdriver.PowerLow)}
	}
	return &memory{bad: bad, ports: ports, vlans: map[uint32]*switchdriver.VLAN{1: {VlanId: 1, EgressPorts: []uint32{1, 2, 3}, UntaggedPorts: []uint32{1, 2, 3}}}}
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

func (d *memory) ReadPortSettings(ctx context.Context, sw *switchdriver.Switch, port uint32) ([]*switchdriver.PortSettings, []*switchdriver.PowerSupply, error) {
	done, err := d.at(ctx, sw)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	var out []*switchdriver.PortSettings
	for _, n := range slices.Sorted(maps.Keys(d.ports)) {
		if port == 0 || n == port {
			out = append(out, proto.CloneOf(d.ports[n]))
		}
	}
	if len(out) == 0 {
		return nil, nil, fault.At(fault.NotFound, "port", "not there")
	}
	return out, []*switchdriver.PowerSupply{{Group: 1, Budget: 100}}, nil
}

func (d *memory) WritePortSettings(ctx context.Context, sw *switchdriver.Switch, s *switchdriver.PortSettings) error {
	done, err := d.at(ctx, sw)
	if err != nil {
		return err
	}
	defer done()
	if err := switchdriver.CheckPortSettings(s); err != nil && d.bad != "takes any settings" {
		return err
	}
	if s == nil { // a bad one takes that too
		return nil
	}
	if s.GetPowerLimit() != 0 || s.GetSpeed() != 0 || s.Speed != nil {
		path := "speed"
		if d.bad == "does not name what it cannot set" {
			path = ""
		}
		if s.GetPowerLimit() != 0 {
			path = "power-limit"
		}
		return fault.At(fault.Unsupported, path, "not this switch")
	}
	now := d.ports[s.GetPort()]
	switch {
	case now == nil && d.bad == "takes any settings":
		return nil
	case now == nil:
		return fault.At(fault.NotFound, "port", "not there")
	case d.bad == "says set and sets nothing":
		return nil
	case d.bad == "sets all ports":
		for _, other := range d.ports {
			proto.Merge(other, &switchdriver.PortSettings{Description: s.Description, PowerPriority: s.PowerPriority})
		}
	}
	proto.Merge(now, s)
	return nil
}
