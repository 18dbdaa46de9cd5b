package service

import (
	"context"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/switchdriver"
)

// byName registers the RPCs of module switch, which name switches and ports.
func (s *Service) byName(m operations.Mux) {
	get(m, "switch:ports", at(s, s.getPorts))
	get(m, "switch:vlans", s.vlanLines)
	get(m, "switch:vlan-mismatches", s.vlanMismatches)
	get(m, "switch:search", s.search)
	get(m, "switch:fdb", at(s, s.fdbLines))
	get(m, "switch:arp", at(s, s.arpLines))
	get(m, "switch:stp", at(s, s.stpLines))
	get(m, "switch:neighbors", s.neighborLines)
	get(m, "switch:find-address", s.findAddress)
	get(m, "switch:history", s.historyLines)
	get(m, "switch:counters", at(s, s.counterLines))
	get(m, "switch:edges", s.edgeLines)
	get(m, "switch:traps", s.trapReport)
	get(m, "switch:acls", at(s, s.aclLines))
	get(m, "switch:changes", tabled(s.changeTable))
	get(m, "switch:drivers", tabled(s.driverTable))
	get(m, "switch:vendors", s.vendorModels)
	get(m, "switch:models", s.modelLines)
	get(m, "switch:switches", s.switchLines)
	get(m, "switch:vlan-add", s.changeVLAN(true))
	get(m, "switch:vlan-set", s.changeVLAN(false))
	get(m, "switch:vlan-del", at(s, s.dropVLAN))
}

// vlanByName is the input of changes of VLANs by names.
type vlanByName struct {
	vlanIDIn
	Name     string   `json:"vlan-name"`
	Tagged   []string `json:"tagged"`
	Untagged []string `json:"untagged"`
}

type done struct {
	Result string `json:"result"`
}

func (s *Service) changeVLAN(create bool) func(context.Context, vlanByName) (*done, error) {
	return at(s, func(ctx context.Context, sw *switchdriver.Switch, in vlanByName) (*done, error) {
		m := mib.MAC(sw.NodeId)
		names := s.ports(m)
		tagged, err := names.numbers(sw, "tagged", in.Tagged)
		l := fault.All(err)
		untagged, err := names.numbers(sw, "untagged", in.Untagged)
		l = append(l, fault.All(err)...)
		v := vlanChange{in.VLAN, in.Name, mib.PortsOf(tagged...), mib.PortsOf(untagged...), names, names.meant(in.Tagged, in.Untagged), create, true}
		return &done{"SUCCESS"}, s.setVLAN(ctx, m, v, l)
	})
}

func (s *Service) dropVLAN(ctx context.Context, sw *switchdriver.Switch, in vlanByName) (*done, error) {
	return &done{"SUCCESS"}, s.deleteVLAN(ctx, vlanIn{nodeIn: nodeIn{mib.MAC(sw.NodeId)}, VLAN: in.VLAN})
}
