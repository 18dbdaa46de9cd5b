package service

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/switchdriver"
)

func (s *Service) vlanRPCs(m operations.Mux) {
	get(m, "vlan:get-vlan-table", s.getVLANTable)
	set(m, "vlan:add-vlan", s.writeVLAN(true, false))
	set(m, "vlan:delete-vlan", s.deleteVLAN)
	set(m, "vlan:add-vlan-and-set-ports", s.writeVLAN(true, true))
	set(m, "vlan:set-vlan-ports", s.writeVLAN(false, true))
}

type vlanEntry struct {
	VLAN  uint32   `json:"vlan-id"`
	Name  string   `json:"vlan-name"`
	Ports []uint32 `json:"port-list"` // tagged and untagged
}

type vlanTable struct {
	Entries []vlanEntry `json:"vlan-table-entry"`
}

func (s *Service) getVLANTable(ctx context.Context, in nodeIn) (*vlanTable, error) {
	d, sw, err := reader[switchdriver.VLANReader](ctx, s, in.Node, "ReadVlans")
	if err != nil {
		return nil, err
	}
	vlans, err := d.ReadVLANs(ctx, sw)
	if err != nil {
		return nil, err
	}
	out := &vlanTable{Entries: make([]vlanEntry, 0, len(vlans))}
	for _, v := range vlans {
		out.Entries = append(out.Entries, vlanEntry{v.VlanId, v.Name, append([]uint32{}, v.EgressPorts...)})
	}
	return out, nil
}

// vlanIn is the input of all changes of VLANs; each has some of the leaves.
type vlanIn struct {
	nodeIn
	VLAN     uint32 `json:"vlan-id"`
	Name     string `json:"vlan-name"`
	Tagged   string `json:"tagged-port-list"`
	Untagged string `json:"untagged-port-list"`
}

// writeVLAN makes the handler of an RPC that makes a VLAN, sets its ports, or both.
func (s *Service) writeVLAN(create, setPorts bool) func(context.Context, vlanIn) error {
	what := "setting the ports of VLAN %d"
	if create {
		what = "making VLAN %d"
	}
	return func(ctx context.Context, in vlanIn) error {
		var l fault.List
		if !switchdriver.Printable(in.Name) {
			l = append(l, fault.At(fault.Invalid, "vlan-name", "only printable ASCII characters can be in a name"))
		}
		tagged, untagged := ports(&l, mibdriver.PathTagged, in.Tagged), ports(&l, mibdriver.PathUntagged, in.Untagged)
		for _, n := range untagged.Sorted() {
			if tagged[n] {
				l = append(l, fault.At(fault.Invalid, mibdriver.PathUntagged, "port %d is in the tagged list too", n))
			}
		}
		if len(l) > 0 {
			return l.Err()
		}
		v := &switchdriver.VLAN{VlanId: in.VLAN, Name: in.Name, EgressPorts: tagged.Union(untagged).Sorted(), UntaggedPorts: untagged.Sorted()}
		return s.change(ctx, in.Node, writes.Operation{What: fmt.Sprintf(what, in.VLAN),
			Request: &pluginv1.WriteVlanRequest{Vlan: v, Create: create, SetPorts: setPorts}})
	}
}

func (s *Service) deleteVLAN(ctx context.Context, in vlanIn) error {
	return s.change(ctx, in.Node, writes.Operation{What: fmt.Sprintf("removing VLAN %d", in.VLAN),
		Request: &pluginv1.DeleteVlanRequest{VlanId: in.VLAN}})
}

// ports reads a list of port numbers separated by commas; blank is no port.
func ports(l *fault.List, leaf, text string) mib.Ports {
	out := mib.Ports{}
	if strings.TrimSpace(text) == "" {
		return out
	}
	for item := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(item), 10, 16)
		if err != nil || n == 0 {
			*l = append(*l, fault.At(fault.Invalid, leaf, "%.20q is not a port number; write numbers from 1 to 65535 separated by commas", strings.TrimSpace(item)))
			continue
		}
		out[uint32(n)] = true
	}
	return out
}
