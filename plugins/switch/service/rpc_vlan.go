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
	registerHandler(m, "vlan:get-vlan-table", s.getVLANTable)
	registerResultHandler(m, "vlan:add-vlan", s.writeVLAN(true, false))
	registerResultHandler(m, "vlan:delete-vlan", s.deleteVLAN)
	registerResultHandler(m, "vlan:add-vlan-and-set-ports", s.writeVLAN(true, true))
	registerResultHandler(m, "vlan:set-vlan-ports", s.writeVLAN(false, true))
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
	d, sw, err := readerOf[switchdriver.VLANReader](ctx, s, in.Node, "ReadVlans")
	if err != nil {
		return nil, err
	}
	vlans, err := d.ReadVLANs(ctx, sw)
	if err != nil {
		return nil, err
	}
	out := &vlanTable{Entries: make([]vlanEntry, 0, len(vlans))}
	for _, v := range vlans {
		out.Entries = append(
			out.Entries,
			vlanEntry{v.VlanId, v.Name, append([]uint32{}, v.EgressPorts...)},
		)
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
	return func(ctx context.Context, in vlanIn) error {
		var l fault.List
		v := vlanChange{
			id:       in.VLAN,
			name:     in.Name,
			create:   create,
			setPorts: setPorts,
			tagged:   parsePorts(&l, mibdriver.PathTagged, in.Tagged),
			untagged: parsePorts(&l, mibdriver.PathUntagged, in.Untagged),
		}
		return s.setVLAN(ctx, in.Node, v, l)
	}
}

// vlanChange is a VLAN that is to be made, or whose ports are to be set, or both.
type vlanChange struct {
	id               uint32
	name             string
	tagged, untagged mib.Ports
	names            portNames         // for faults; nil: ports have numbers
	named            map[uint32]string // ports that the caller named
	create, setPorts bool
}

// setVLAN has a VLAN changed; l is what was wrong with the lists of its ports.
func (s *Service) setVLAN(ctx context.Context, m mib.MAC, v vlanChange, l fault.List) error {
	if !switchdriver.Printable(v.name) {
		l = append(
			l,
			fault.At(
				fault.Invalid,
				"vlan-name",
				"only printable ASCII characters can be in a name",
			),
		)
	}
	for _, n := range v.untagged.Sorted() {
		if v.tagged[n] {
			l = append(
				l,
				fault.At(
					fault.Invalid,
					mibdriver.PathUntagged,
					"port %s is in the tagged list too",
					v.names.nameOfPort(n),
				),
			)
		}
	}
	if len(l) > 0 {
		return l.Err()
	}
	what := "setting the ports of VLAN %d"
	if v.create {
		what = "making VLAN %d"
	}
	vlan := &switchdriver.VLAN{
		VlanId:        v.id,
		Name:          v.name,
		EgressPorts:   v.tagged.Union(v.untagged).Sorted(),
		UntaggedPorts: v.untagged.Sorted(),
	}
	return s.changeSwitch(ctx, m, writes.Operation{
		What:  fmt.Sprintf(what, v.id),
		Ports: v.named,
		Request: &pluginv1.WriteVlanRequest{
			Vlan:     vlan,
			Create:   v.create,
			SetPorts: v.setPorts,
		},
	})
}

func (s *Service) deleteVLAN(ctx context.Context, in vlanIn) error {
	return s.changeSwitch(ctx, in.Node, writes.Operation{What: fmt.Sprintf("removing VLAN %d", in.VLAN),
		Request: &pluginv1.DeleteVlanRequest{VlanId: in.VLAN}})
}

// parsePorts reads a list of port numbers separated by commas; blank is no port.
func parsePorts(l *fault.List, leaf, text string) mib.Ports {
	out := mib.Ports{}
	if strings.TrimSpace(text) == "" {
		return out
	}
	for item := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(item), 10, 16)
		if err != nil || n == 0 {
			*l = append(
				*l,
				fault.At(
					fault.Invalid,
					leaf,
					"%.20q is not a port number; write numbers from 1 to 65535 separated by commas",
					strings.TrimSpace(item),
				),
			)
			continue
		}
		out[uint32(n)] = true
	}
	return out
}
