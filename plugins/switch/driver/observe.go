package driver

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/switchdriver"
)

// observeSwitch makes an observation of what the driver reads.
func (g *checked) observeSwitch(
	ctx context.Context,
	sw *switchdriver.Switch,
) (*discovery.Observation, error) {
	o := &discovery.Observation{
		Node:    mib.MAC(sw.NodeId),
		Model:   sw.Model,
		SysOID:  sw.SysObjectId,
		SysDesc: sw.SysDescr,
		Bridge:  mib.MAC(sw.NodeId),
		Chassis: discovery.Identifier{
			Subtype: 4,
			ID:      mib.MAC(sw.NodeId).Octets(),
		},
	}
	o.Address, _ = netip.ParseAddr(sw.Address)
	ports, err := g.ReadPorts(ctx, sw)
	if err != nil {
		return o, err
	}
	for _, p := range ports {
		o.Ports = append(o.Ports, discovery.Port{
			ID:      strconv.FormatUint(uint64(p.Number), 10),
			Number:  p.Number,
			IfIndex: p.IfIndex,
			Name:    p.Name,
			MAC:     mib.MAC(p.Mac),
			LLDP: discovery.Identifier{
				Subtype: 5,
				ID:      []byte(p.Name),
			},
			Admin:   p.AdminStatus,
			Oper:    p.OperStatus,
			Speed:   p.Speed,
			Bridged: true,
		})
	}
	o.Observed = time.Now()
	if !g.has["ReadNeighbors"] {
		o.Notes = append(o.Notes, "the driver "+g.name+" reads no neighbours")
		return o, nil
	}
	neighbors, err := g.ReadNeighbors(ctx, sw)
	if err != nil {
		return o, err
	}
	for _, n := range neighbors {
		d := discovery.Neighbor{
			LocalPort: strconv.FormatUint(uint64(n.LocalPort), 10),
			PortDesc:  n.PortDescription,
			SysName:   n.SystemName,
			Protocol:  n.Protocol,
			Chassis: discovery.Identifier{
				Subtype: n.ChassisIdSubtype,
				ID:      n.ChassisId,
			},
			Port: discovery.Identifier{
				Subtype: n.PortIdSubtype,
				ID:      n.PortId,
			},
		}
		for _, a := range n.ManagementAddresses {
			if ip, err := netip.ParseAddr(a); err == nil {
				d.Addresses = append(d.Addresses, ip)
			}
		}
		o.Neighbors = append(o.Neighbors, d)
	}
	return o, nil
}
