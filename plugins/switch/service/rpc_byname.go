package service

import (
	"context"
	"fmt"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/switchdriver"
)

// byName registers the RPCs of module switch, which name switches and ports.
func (s *Service) byName(m operations.Mux) {
	get(m, "switch:ports", s.getPorts)
	get(m, "switch:vlans", s.vlanLines)
	get(m, "switch:fdb", s.fdbLines)
	get(m, "switch:arp", s.arpLines)
	get(m, "switch:stp", s.stpLines)
	get(m, "switch:neighbors", s.neighborLines)
	get(m, "switch:find-address", s.findAddress)
	get(m, "switch:history", s.historyLines)
	get(m, "switch:counters", s.counterLines)
	get(m, "switch:edges", s.edgeLines)
	get(m, "switch:traps", s.trapReport)
	get(m, "switch:acls", s.aclLines)
	get(m, "switch:changes", tabled(s.changeTable))
	get(m, "switch:drivers", tabled(s.driverTable))
	get(m, "switch:vendors", s.vendorModels)
	get(m, "switch:switches", s.switchLines)
	get(m, "switch:vlan-add", s.changeVLAN(true))
	get(m, "switch:vlan-set", s.changeVLAN(false))
	get(m, "switch:vlan-del", s.dropVLAN)
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
	what := "setting the ports of VLAN %d"
	if create {
		what = "making VLAN %d"
	}
	return func(ctx context.Context, in vlanByName) (*done, error) {
		sw, err := s.named(in.Switch)
		if err != nil {
			return nil, err
		}
		var l fault.List
		if !switchdriver.Printable(in.Name) {
			l = append(l, fault.At(fault.Invalid, "vlan-name", "only printable ASCII characters can be in a name"))
		}
		names := s.ports(mib.MAC(sw.NodeId))
		tagged, err := names.numbers(sw, "tagged", in.Tagged)
		l = append(l, fault.All(err)...)
		untagged, err := names.numbers(sw, "untagged", in.Untagged)
		l = append(l, fault.All(err)...)
		egress := mib.PortsOf(tagged...)
		for _, p := range untagged {
			if egress[p] {
				l = append(l, fault.At(fault.Invalid, mibdriver.PathUntagged, "port %s is in the tagged list too", names.of(p)))
			}
		}
		if len(l) > 0 {
			return nil, l.Err()
		}
		v := &switchdriver.VLAN{VlanId: in.VLAN, Name: in.Name, EgressPorts: egress.Union(mib.PortsOf(untagged...)).Sorted(), UntaggedPorts: untagged}
		err = s.change(ctx, mib.MAC(sw.NodeId), writes.Operation{What: fmt.Sprintf(what, in.VLAN),
			Request: &pluginv1.WriteVlanRequest{Vlan: v, Create: create, SetPorts: true}})
		return &done{"SUCCESS"}, err
	}
}

func (s *Service) dropVLAN(ctx context.Context, in vlanByName) (*done, error) {
	sw, err := s.named(in.Switch)
	if err != nil {
		return nil, err
	}
	return &done{"SUCCESS"}, s.deleteVLAN(ctx, vlanIn{nodeIn: nodeIn{mib.MAC(sw.NodeId)}, VLAN: in.VLAN})
}
