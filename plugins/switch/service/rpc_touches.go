package service

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// touchesIn is the input of RPC touches: an operation with its input, or ports of a switch.
type touchesIn struct {
	Operation string   `json:"operation"`
	Input     string   `json:"input"`
	Switch    string   `json:"switch"`
	Ports     []string `json:"port"`
}

// touched is a switch, and what of it an operation acts on.
type touched struct {
	Node string `json:"node-id"`
	Port uint32 `json:"port,omitempty"`
	Name string `json:"port-name,omitempty"`
	VLAN uint32 `json:"vlan-id,omitempty"`
}

type touchesOut struct {
	Entries []touched `json:"entry"`
}

// touches says what a call would act on.
func (s *Service) touches(ctx context.Context, in touchesIn) (*touchesOut, error) {
	var all []touched
	var err error
	if in.Operation == "" {
		all, err = s.touchedPorts(in.Switch, in.Ports)
	} else {
		all, err = s.touchedBy(ctx, in.Operation, []byte(in.Input))
	}
	if err != nil {
		return nil, err
	}
	return &touchesOut{append([]touched{}, all...)}, nil
}

// touchedPorts are the named ports of a switch; without names the switch and all its ports that are known.
func (s *Service) touchedPorts(name string, ports []string) ([]touched, error) {
	sw, err := s.findNamedSwitch(name)
	if err != nil {
		return nil, err
	}
	m := mib.MAC(sw.NodeId)
	names := s.portNamesOf(m)
	numbers := slices.Sorted(maps.Keys(names))
	var all []touched
	if len(ports) == 0 {
		all = append(all, touched{Node: nodeText(m)})
	} else if numbers, err = names.parsePortList(sw, "port", ports); err != nil {
		return nil, err
	}
	for _, n := range numbers {
		all = append(all, touched{Node: nodeText(m), Port: n, Name: names.nameOfPort(n)})
	}
	return all, nil
}

func nodeText(m mib.MAC) string { return strconv.FormatUint(uint64(m), 10) }

// touchedBy are the resources that an operation with an input acts on. The operations are those that have the annotation.
func (s *Service) touchedBy(ctx context.Context, operation string, input []byte) ([]touched, error) {
	switch operation {
	case "switch:ports", "switch:counters", "switch:fdb", "switch:vlans",
		"switch-port:get-ports", "switch-port:set-port", "switch-port:bounce-port":
		return s.touchedByName(input)
	case "switch:vlan-add", "switch:vlan-set", "switch:vlan-del":
		return s.touchedByNamedVLAN(ctx, operation, input)
	case "vlan:get-vlan-table", "vlan:add-vlan", "vlan:delete-vlan", "vlan:add-vlan-and-set-ports", "vlan:set-vlan-ports":
		return s.touchedByVLAN(ctx, operation, input)
	}
	return nil, fault.At(fault.Invalid, "operation", "it is not known what %.100q acts on", operation)
}

// decodeTouching reads the input of an operation.
func decodeTouching(input []byte, in any) error {
	if len(input) == 0 {
		return nil
	}
	if err := json.Unmarshal(input, in); err != nil {
		return fault.At(fault.Invalid, "input", "%v", err)
	}
	return nil
}

// touchedByName is of an input that names a switch, and perhaps a port and a VLAN; nothing where it means all switches.
func (s *Service) touchedByName(input []byte) ([]touched, error) {
	var in struct {
		whichIn
		VLAN uint32 `json:"vlan-id"`
	}
	if err := decodeTouching(input, &in); err != nil || in.Switch == "" {
		return nil, err
	}
	sw, err := s.findNamedSwitch(in.Switch)
	if err != nil {
		return nil, err
	}
	m := mib.MAC(sw.NodeId)
	port, err := s.portNamesOf(m).parsePort(sw, "port", in.Port)
	if err != nil {
		return nil, err
	}
	return []touched{{Node: nodeText(m), Port: port, VLAN: in.VLAN}}, nil
}

// touchedByNamedVLAN is of a change of a VLAN by names.
func (s *Service) touchedByNamedVLAN(
	ctx context.Context,
	operation string,
	input []byte,
) ([]touched, error) {
	var in vlanByName
	if err := decodeTouching(input, &in); err != nil {
		return nil, err
	}
	sw, err := s.findNamedSwitch(in.Switch)
	if err != nil {
		return nil, err
	}
	m := mib.MAC(sw.NodeId)
	names := s.portNamesOf(m)
	tagged, err := names.parsePortList(sw, "tagged", in.Tagged)
	if err != nil {
		return nil, err
	}
	untagged, err := names.parsePortList(sw, "untagged", in.Untagged)
	if err != nil {
		return nil, err
	}
	return s.touchedPortsOfVLAN(
		ctx,
		m,
		in.VLAN,
		operation != "switch:vlan-add",
		mib.PortsOf(tagged...),
		mib.PortsOf(untagged...),
	)
}

// touchedByVLAN is of the operations of module vlan.
func (s *Service) touchedByVLAN(
	ctx context.Context,
	operation string,
	input []byte,
) ([]touched, error) {
	var in vlanIn
	if err := decodeTouching(input, &in); err != nil {
		return nil, err
	}
	if operation == "vlan:get-vlan-table" {
		return []touched{{Node: nodeText(in.Node)}}, nil
	}
	var l fault.List
	tagged := parsePorts(&l, mibdriver.PathTagged, in.Tagged)
	untagged := parsePorts(&l, mibdriver.PathUntagged, in.Untagged)
	if len(l) > 0 {
		return nil, l.Err()
	}
	replaces := operation == "vlan:delete-vlan" || operation == "vlan:set-vlan-ports"
	return s.touchedPortsOfVLAN(ctx, in.Node, in.VLAN, replaces, tagged, untagged)
}

// touchedPortsOfVLAN are the ports whose membership of a VLAN changes when it gets the given ones: what a change replaces is read
// from the switch. A port that gets it untagged counts in any case, for its PVID is set with it.
func (s *Service) touchedPortsOfVLAN(
	ctx context.Context,
	m mib.MAC,
	id uint32,
	replaces bool,
	tagged, untagged mib.Ports,
) ([]touched, error) {
	was, wasUntagged := mib.Ports{}, mib.Ports{}
	if replaces {
		d, sw, err := readerOf[switchdriver.VLANReader](ctx, s, m, "ReadVlans")
		if err != nil {
			return nil, err
		}
		vlans, err := d.ReadVLANs(ctx, sw)
		if err != nil {
			return nil, err
		}
		for _, v := range vlans {
			if v.VlanId == id {
				was, wasUntagged = mib.PortsOf(v.EgressPorts...), mib.PortsOf(v.UntaggedPorts...)
			}
		}
	}
	var all []touched
	for _, n := range was.Union(wasUntagged).Union(tagged).Union(untagged).Sorted() {
		same := was[n] == tagged[n] && !wasUntagged[n] && !untagged[n]
		if !same {
			all = append(all, touched{Node: nodeText(m), Port: n, VLAN: id})
		}
	}
	if len(all) == 0 {
		all = append(all, touched{Node: nodeText(m), VLAN: id})
	}
	return all, nil
}
