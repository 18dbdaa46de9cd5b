// Package bridge is the VLANs of an Open vSwitch bridge as the contract has them, and
// what to write for a change. There is no table of VLANs in OVSDB: they are what the
// columns tag, trunks and vlan_mode of the ports say (ovs-vswitchd.conf.db(5)), and
// the names that are kept in the bridge's external_ids as vlan-ID.
package bridge

import (
	"maps"
	"slices"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// State is a bridge as read.
type State struct {
	UUID  string
	Name  string
	Names map[int]string // of VLANs that were made, by id
	Ports []Port
}

// manyTrunks is from where a list of trunks says "all but some": its VLANs need not exist.
const manyTrunks = 1024

// Has reports whether the bridge has a port of a number.
func (s *State) Has(port uint32) bool {
	return port != 0 && slices.ContainsFunc(s.Ports, func(p Port) bool {
		return p.Number == port
	})
}

// vlanIDs are the VLANs there are: the default one, those that were made, and those that
// a port is in by name.
func (s *State) vlanIDs() []int {
	seen := map[int]bool{defaultVLAN: true}
	for v := range s.Names {
		seen[v] = true
	}
	for _, p := range s.Ports {
		if p.Columns.Tag >= 1 && p.Columns.Tag <= lastVLAN && p.Columns.effectiveMode() != Trunk {
			seen[p.Columns.Tag] = true
		}
		if len(p.Columns.Trunks) < manyTrunks && p.Columns.effectiveMode() != Access {
			for v := range p.Columns.toMember().tagged {
				seen[v] = len(p.Columns.Trunks) > 0 || seen[v]
			}
		}
	}
	maps.DeleteFunc(seen, func(_ int, there bool) bool { return !there })
	return slices.Sorted(maps.Keys(seen))
}

// VLANs are the VLANs of the bridge in order, ports in order.
func (s *State) VLANs() []*switchdriver.VLAN {
	var out []*switchdriver.VLAN
	for _, id := range s.vlanIDs() {
		out = append(out, &switchdriver.VLAN{
			VlanId: uint32(id),
			Name:   s.Names[id],
		})
	}
	for _, p := range s.Ports {
		if p.Number == 0 {
			continue
		}
		m := p.Columns.toMember()
		for _, v := range out {
			id := int(v.VlanId)
			if m.tagged[id] || m.untagged == id {
				v.EgressPorts = append(v.EgressPorts, p.Number)
			}
			if m.untagged == id {
				v.UntaggedPorts = append(v.UntaggedPorts, p.Number)
			}
		}
	}
	for _, v := range out {
		slices.Sort(v.EgressPorts)
		slices.Sort(v.UntaggedPorts)
	}
	return out
}

// VLAN is one of the VLANs, nil when it is not there.
func (s *State) VLAN(id uint32) *switchdriver.VLAN {
	for _, v := range s.VLANs() {
		if v.VlanId == id {
			return v
		}
	}
	return nil
}

// Write is the bridge with a VLAN made or changed. It does not change s.
func (s *State) Write(v *switchdriver.VLAN, setPorts bool) (*State, error) {
	out := s.clone()
	id := int(v.VlanId)
	if _, named := out.Names[id]; v.Name != "" || !named {
		out.Names[id] = v.Name
	}
	if !setPorts {
		return out, nil
	}
	for i := range out.Ports {
		p := &out.Ports[i]
		m := p.Columns.toMember()
		in := slices.Contains(v.EgressPorts, p.Number)
		untagged := slices.Contains(v.UntaggedPorts, p.Number)
		if p.Number == 0 ||
			(in == (m.tagged[id] || m.untagged == id) && untagged == (m.untagged == id)) {
			continue
		}
		if p.Columns.isFixed() {
			return nil, fault.At(
				fault.Unsupported,
				"egress-ports",
				"port %d (%s) is in the mode %s, which is not changed here",
				p.Number,
				p.Name,
				p.Columns.Mode,
			)
		}
		switch {
		case untagged:
			delete(m.tagged, id)
			m.untagged = id
		case in:
			m.tagged[id] = true
			if m.untagged == id {
				m.untagged = 0
			}
		case id == defaultVLAN && len(m.tagged) == 0:
			return nil, fault.At(
				fault.Invalid,
				"egress-ports",
				"port %d would be in no VLAN; put it into another one first",
				p.Number,
			)
		default:
			m.leaveVLAN(id)
		}
		p.Columns = m.toColumns(p.Columns)
	}
	return out, nil
}

// Remove is the bridge without a VLAN; its ports go back to the default one.
func (s *State) Remove(id int) (*State, error) {
	out := s.clone()
	delete(out.Names, id)
	for i := range out.Ports {
		p := &out.Ports[i]
		m := p.Columns.toMember()
		if m.untagged != id && (!m.tagged[id] || len(p.Columns.Trunks) == 0) {
			continue // a trunk of all VLANs has no list to take it from
		}
		if p.Columns.isFixed() {
			return nil, fault.At(
				fault.InUse,
				"vlan-id",
				"port %d (%s) in the mode %s is in VLAN %d; it is not changed here",
				p.Number,
				p.Name,
				p.Columns.Mode,
				id,
			)
		}
		all := len(p.Columns.Trunks) == 0 && p.Columns.effectiveMode() == NativeUntagged
		m.leaveVLAN(id)
		if all { // what was native goes on as one of all
			m.tagged[id], m.untagged = true, defaultVLAN
			delete(m.tagged, defaultVLAN)
		}
		p.Columns = m.toColumns(p.Columns)
	}
	return out, nil
}

func (s *State) clone() *State {
	out := *s
	out.Names = maps.Clone(s.Names)
	if out.Names == nil {
		out.Names = map[int]string{}
	}
	out.Ports = slices.Clone(s.Ports)
	return &out
}
