package switchdriver

import (
	"testing"

	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// Answers that no switch can give are refused; others are not.
func TestCheckAnswer(t *testing.T) {
	vlan := func(id uint32, egress, untagged []uint32) *VLAN {
		return &VLAN{VlanId: id, EgressPorts: egress, UntaggedPorts: untagged}
	}
	vlans := func(v ...*VLAN) proto.Message { return &pluginv1.ReadVlansResponse{Vlans: v} }
	fdb := func(e ...*FDBEntry) proto.Message { return &pluginv1.ReadFdbResponse{Entries: e} }
	ports := func(p ...*Port) proto.Message { return &pluginv1.ReadPortsResponse{Ports: p} }
	stp := func(p ...*STPPort) proto.Message { return &pluginv1.ReadStpResponse{Ports: p} }
	arp := func(e ...*ARPEntry) proto.Message { return &pluginv1.ReadArpResponse{Entries: e} }
	acl := func(e ...*ACLEntry) proto.Message { return &pluginv1.ReadAclResponse{Entries: e} }
	all, one := &pluginv1.ReadFdbRequest{}, &pluginv1.ReadFdbRequest{VlanId: 5, Mac: 7}
	for name, c := range map[string]struct {
		request, answer proto.Message
		good            bool
	}{
		"vlans":                {&pluginv1.ReadVlansRequest{}, vlans(vlan(1, []uint32{1, 65535}, []uint32{1}), vlan(4094, nil, nil)), true},
		"vlan 0":               {&pluginv1.ReadVlansRequest{}, vlans(vlan(0, nil, nil)), false},
		"vlan 4095":            {&pluginv1.ReadVlansRequest{}, vlans(vlan(4095, nil, nil)), false},
		"a vlan twice":         {&pluginv1.ReadVlansRequest{}, vlans(vlan(2, nil, nil), vlan(2, nil, nil)), false},
		"port 0 in a vlan":     {&pluginv1.ReadVlansRequest{}, vlans(vlan(2, []uint32{0}, nil)), false},
		"untagged only":        {&pluginv1.ReadVlansRequest{}, vlans(vlan(2, nil, []uint32{1})), false},
		"entries":              {all, fdb(&FDBEntry{Mac: 7, Port: 1}, &FDBEntry{VlanId: 5, Mac: 7, Port: 1}), true},
		"an entry of no port":  {all, fdb(&FDBEntry{Mac: 7}), false},
		"a mac of 49 bits":     {all, fdb(&FDBEntry{Mac: 1 << 48, Port: 1}), false},
		"the entry":            {one, fdb(&FDBEntry{VlanId: 5, Mac: 7, Port: 1}), true},
		"another entry":        {one, fdb(&FDBEntry{VlanId: 5, Mac: 8, Port: 1}), false},
		"ports":                {&pluginv1.ReadPortsRequest{}, ports(&Port{Number: 1}, &Port{Number: 2}), true},
		"a port twice":         {&pluginv1.ReadPortsRequest{}, ports(&Port{Number: 1}, &Port{Number: 1}), false},
		"an identifier":        {&pluginv1.ReadNeighborsRequest{}, &pluginv1.ReadNeighborsResponse{Neighbors: []*Neighbor{{ChassisId: make([]byte, 256)}}}, false},
		"neighbours":           {&pluginv1.ReadNeighborsRequest{}, &pluginv1.ReadNeighborsResponse{Neighbors: make([]*Neighbor, 4097)}, false},
		"spanning tree":        {&pluginv1.ReadStpRequest{}, stp(&STPPort{Port: 3, State: 6, DesignatedRoot: make([]byte, 8)}), true},
		"a state below 0":      {&pluginv1.ReadStpRequest{}, stp(&STPPort{Port: 3, State: -1}), false},
		"another port":         {&pluginv1.ReadStpRequest{Port: 4}, stp(&STPPort{Port: 3}), false},
		"addresses":            {&pluginv1.ReadArpRequest{}, arp(&ARPEntry{IpAddress: "192.0.2.1", Mac: 1}), true},
		"no address":           {&pluginv1.ReadArpRequest{}, arp(&ARPEntry{IpAddress: "x", Mac: 1}), false},
		"another address":      {&pluginv1.ReadArpRequest{IpAddress: "192.0.2.2"}, arp(&ARPEntry{IpAddress: "192.0.2.1", Mac: 1}), false},
		"access lists":         {&pluginv1.ReadAclRequest{}, acl(&ACLEntry{Profile: &ACLProfile{ProfileId: 1}, Rules: []*ACLRule{{RuleId: 1}}}), true},
		"no profile":           {&pluginv1.ReadAclRequest{}, acl(&ACLEntry{}), false},
		"a rule without an id": {&pluginv1.ReadAclRequest{}, acl(&ACLEntry{Profile: &ACLProfile{ProfileId: 1}, Rules: []*ACLRule{{}}}), false},
		"a profile twice":      {&pluginv1.ReadAclRequest{}, acl(&ACLEntry{Profile: &ACLProfile{ProfileId: 1}}, &ACLEntry{Profile: &ACLProfile{ProfileId: 1}}), false},
	} {
		if err := CheckAnswer(c.request, c.answer); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
