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
	registerHandler(m, "switch:ports", switchHandler(s, s.getPorts))
	registerHandler(m, "switch:vlans", s.vlanLines)
	registerHandler(m, "switch:vlan-mismatches", s.vlanMismatches)
	registerHandler(m, "switch:search", s.search)
	registerHandler(m, "switch:fdb", switchHandler(s, s.fdbLines))
	registerHandler(m, "switch:arp", switchHandler(s, s.arpLines))
	registerHandler(m, "switch:stp", switchHandler(s, s.stpLines))
	registerHandler(m, "switch:neighbors", s.neighborLines)
	registerHandler(m, "switch:find-address", s.findAddress)
	registerHandler(m, "switch:history", s.historyLines)
	registerHandler(m, "switch:counters", switchHandler(s, s.counterLines))
	registerHandler(m, "switch:edges", s.edgeLines)
	registerHandler(m, "switch:traps", s.trapReport)
	registerHandler(m, "switch:acls", switchHandler(s, s.aclLines))
	registerHandler(m, "switch:changes", tableHandler(s.changeTable))
	registerHandler(m, "switch:drivers", tableHandler(s.driverTable))
	registerHandler(m, "switch:vendors", s.vendorModels)
	registerHandler(m, "switch:models", s.modelLines)
	registerHandler(m, "switch:switches", s.switchLines)
	registerHandler(m, "switch:touches", s.touches)
	registerHandler(m, "switch:vlan-add", s.changeVLAN(true))
	registerHandler(m, "switch:vlan-set", s.changeVLAN(false))
	registerHandler(m, "switch:vlan-del", switchHandler(s, s.dropVLAN))
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
	return switchHandler(s, func(ctx context.Context, sw *switchdriver.Switch, in vlanByName) (*done, error) {
		m := mib.MAC(sw.NodeId)
		names := s.portNamesOf(m)
		tagged, err := names.parsePortList(sw, "tagged", in.Tagged)
		l := fault.All(err)
		untagged, err := names.parsePortList(sw, "untagged", in.Untagged)
		l = append(l, fault.All(err)...)
		v := vlanChange{in.VLAN, in.Name, mib.PortsOf(tagged...), mib.PortsOf(untagged...), names, names.meantPorts(in.Tagged, in.Untagged), create, true}
		return &done{"SUCCESS"}, s.setVLAN(ctx, m, v, l)
	})
}

func (s *Service) dropVLAN(
	ctx context.Context,
	sw *switchdriver.Switch,
	in vlanByName,
) (*done, error) {
	return &done{"SUCCESS"}, s.deleteVLAN(
		ctx,
		vlanIn{
			nodeIn: nodeIn{mib.MAC(sw.NodeId)},
			VLAN:   in.VLAN,
		},
	)
}
