package mibdriver

import (
	"context"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/sdk/switchdriver"
)

// ReadPorts reads the ports of a switch.
func (d *Driver) ReadPorts(ctx context.Context, sw *switchdriver.Switch) ([]*switchdriver.Port, error) {
	o, err := d.Observe(ctx, sw)
	if err != nil {
		return nil, err
	}
	out := make([]*switchdriver.Port, 0, len(o.Ports))
	for _, p := range o.Ports {
		out = append(out, &switchdriver.Port{Number: p.Number, IfIndex: p.IfIndex, Name: p.Name,
			AdminStatus: p.Admin, OperStatus: p.Oper, Mac: uint64(p.MAC), Speed: p.Speed})
	}
	return out, nil
}

// ReadNeighbors reads what LLDP learned of the neighbours.
func (d *Driver) ReadNeighbors(ctx context.Context, sw *switchdriver.Switch) ([]*switchdriver.Neighbor, error) {
	o, err := d.Observe(ctx, sw)
	if err != nil {
		return nil, err
	}
	numbers := map[string]uint32{}
	for _, p := range o.Ports {
		numbers[p.ID] = p.Number
	}
	out := make([]*switchdriver.Neighbor, 0, len(o.Neighbors))
	for _, n := range o.Neighbors {
		out = append(out, neighbor(n, numbers[n.LocalPort]))
	}
	return out, nil
}

func neighbor(n discovery.Neighbor, port uint32) *switchdriver.Neighbor {
	m := &switchdriver.Neighbor{LocalPort: port, ChassisIdSubtype: n.Chassis.Subtype, ChassisId: n.Chassis.ID,
		PortIdSubtype: n.Port.Subtype, PortId: n.Port.ID, PortDescription: n.PortDesc, SystemName: n.SysName, Protocol: n.Protocol}
	for _, a := range n.Addresses {
		m.ManagementAddresses = append(m.ManagementAddresses, a.String())
	}
	return m
}
